// Installs what the lockfile names before anything else runs. Plain JavaScript for the system's Node 20:
// the TypeScript sources need the Node 24 that this very step installs. Does nothing when nothing changed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const stampFile = join(root, 'node_modules', '.gatehouse-install');
const stamp = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .update(`${process.platform}-${process.arch}`)
  .digest('hex');

const major = Number(process.versions.node.split('.')[0]);
if (major < 20) {
  process.stderr.write(`Gatehouse needs Node 20 or newer to install itself; this is ${process.version}.\n`);
  process.exit(1);
}

if (!existsSync(stampFile) || readFileSync(stampFile, 'utf8') !== stamp) {
  process.stdout.write('Installing the packages that package-lock.json names (about 1 GB; once) ...\n');
  const startedAt = Date.now();
  // The progress bar of npm is its own; --foreground-scripts keeps nothing hidden from the user.
  const result = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (result.error || result.status !== 0) {
    const why = result.error ? result.error.message : `npm ci ended with status ${result.status}`;
    process.stderr.write(
      `The installation failed (${why}). Check the network and the npm registry, then run this again.\n`,
    );
    process.exit(1);
  }
  // The Node that was installed with the rest needs glibc; say so now rather than fail strangely at the start.
  const node = join(root, 'node_modules', '.bin', 'node');
  if (existsSync(node) && spawnSync(node, ['--version']).status !== 0) {
    process.stderr.write(
      'The Node 24 that was installed cannot run here. On Linux it needs glibc (Alpine has musl): use a glibc distribution.\n',
    );
    process.exit(1);
  }
  writeFileSync(stampFile, stamp);
  process.stdout.write(`Installed in ${((Date.now() - startedAt) / 1000).toFixed(0)} s.\n`);
}
