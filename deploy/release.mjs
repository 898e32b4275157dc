#!/usr/bin/env node
// Prepares a release, and writes what is published. See docs/releasing.md.
//
//   node deploy/release.mjs prepare 0.2.0    sets the version everywhere and closes the changelog; commit and tag what it changed
//   node deploy/release.mjs sbom             prints the SBOM (CycloneDX) of what is shipped
//   node deploy/release.mjs artifacts        for the tag that is checked out: archive, SBOM and checksums, in release/
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const at = (path) => join(root, path);
const read = (path) => readFileSync(at(path), 'utf8');
const run = (program, ...args) =>
  execFileSync(program, args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 });

class ReleaseError extends Error {}

function numbersOf(version) {
  const match = /^(\d+)\.(\d+)\.(\d+)$/.exec(version ?? '');
  if (!match)
    throw new ReleaseError(`the version is ${JSON.stringify(version)}, expected three numbers such as 0.2.0`);
  return match.slice(1).map(Number);
}

function isHigher(version, before) {
  const [one, other] = [numbersOf(version), numbersOf(before)];
  const first = one.findIndex((number, index) => number !== other[index]);
  return first >= 0 && one[first] > other[first];
}

/** Replaces what must be there. */
function edit(path, from, to) {
  const text = read(path);
  const changed = text.replaceAll(from, to);
  if (changed === text) throw new ReleaseError(`${path} has no ${from}`);
  writeFileSync(at(path), changed);
}

function prepare(version) {
  const before = JSON.parse(read('package.json')).version;
  if (!isHigher(version, before))
    throw new ReleaseError(`the version is ${version}, expected one higher than ${before}`);
  if (run('git', 'status', '--porcelain') !== '')
    throw new ReleaseError('there are changes that are not committed');
  const [, unreleased = ''] =
    /^## Unreleased\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(read('CHANGELOG.md')) ?? [];
  if (unreleased.trim() === '') throw new ReleaseError('CHANGELOG.md has nothing under "## Unreleased"');

  const workspaces = JSON.parse(read('package.json')).workspaces;
  for (const path of ['package.json', ...workspaces.map((one) => `${one}/package.json`)]) {
    const manifest = JSON.parse(read(path));
    const own = (name) => name === 'gatehouse' || name.startsWith('@gatehouse/');
    if (manifest.version !== undefined) manifest.version = version;
    for (const kind of ['dependencies', 'devDependencies', 'optionalDependencies'])
      for (const name of Object.keys(manifest[kind] ?? {}).filter(own)) manifest[kind][name] = version;
    writeFileSync(at(path), `${JSON.stringify(manifest, undefined, 2)}\n`);
  }
  edit('cli/src/terminal/version.ts', `'${before}'`, `'${version}'`);
  edit('deploy/helm/gatehouse/Chart.yaml', `ersion: ${before}`, `ersion: ${version}`);
  const day = new Date().toISOString().slice(0, 10);
  edit('CHANGELOG.md', '## Unreleased\n', `## Unreleased\n\n## ${version} (${day})\n`);
  run('npm', 'install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund');
  // What the next version must leave in place while this one runs beside it.
  run(at('node_modules/.bin/node'), 'tests/compatibility/write-release-record.ts');
  process.stdout.write(
    `The version is ${version}. Next: node tests/helm-chart.ts (needs Helm), npm test, npm run audit, then\n` +
      `  git commit -am 'release: ${version}' && git tag -s v${version} -m 'Gatehouse ${version}'\n`,
  );
}

/**
 * The packages in production, from the lockfile alone. npm's own --omit=dev also leaves out packages that both production and development
 * need, so the development ones are left out here.
 */
function sbom(version) {
  const document = JSON.parse(run('npm', 'sbom', '--sbom-format=cyclonedx', '--package-lock-only'));
  const { packages } = JSON.parse(read('package-lock.json'));
  const shipped = new Set(
    Object.entries(packages)
      .filter(([key, entry]) => key.startsWith('node_modules/') && !entry.link && !entry.dev)
      .map(([key, entry]) => `${key.replace(/^.*node_modules\//, '')}@${entry.version}`),
  );
  const nameOf = (component) => component['bom-ref'];
  document.components = document.components.filter((component) => shipped.has(nameOf(component)));
  const listed = new Set(document.components.map(nameOf));
  const missing = [...shipped].filter((name) => !listed.has(name));
  if (missing.length > 0) throw new ReleaseError(`the SBOM lacks ${missing.join(', ')}`);
  // npm takes the name of the folder.
  Object.assign(document.metadata.component, { name: 'gatehouse', version });
  const main = nameOf(document.metadata.component);
  document.dependencies = document.dependencies
    .filter(({ ref }) => ref === main || listed.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => listed.has(one)) }));
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function artifacts() {
  const { version } = JSON.parse(read('package.json'));
  const tags = run('git', 'tag', '--points-at', 'HEAD').split('\n');
  if (!tags.includes(`v${version}`)) throw new ReleaseError(`the tag v${version} is not checked out`);
  if (run('git', 'status', '--porcelain') !== '')
    throw new ReleaseError('there are changes that are not committed');
  mkdirSync(at('release'), { recursive: true });
  const name = `gatehouse-${version}`;
  // The same bytes from the same tag, on any machine with the same versions of git and gzip.
  run(
    'git',
    'archive',
    '--format=tar.gz',
    `--prefix=${name}/`,
    '-o',
    at(`release/${name}.tar.gz`),
    `v${version}`,
  );
  writeFileSync(at(`release/${name}.sbom.cdx.json`), sbom(version));
  const lines = [`${name}.tar.gz`, `${name}.sbom.cdx.json`].map((file) => {
    const sum = createHash('sha256')
      .update(readFileSync(at(`release/${file}`)))
      .digest('hex');
    return `${sum}  ${file}`;
  });
  writeFileSync(at('release/SHA256SUMS'), `${lines.join('\n')}\n`);
  process.stdout.write(`${lines.join('\n')}\nSign it: gpg --armor --detach-sign release/SHA256SUMS\n`);
}

const [verb, version] = process.argv.slice(2);
try {
  if (verb === 'prepare') prepare(version);
  else if (verb === 'artifacts') artifacts();
  else if (verb === 'sbom') process.stdout.write(sbom(JSON.parse(read('package.json')).version));
  else throw new ReleaseError('expected: prepare VERSION, artifacts or sbom');
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error;
  process.stderr.write(`release: ${error.message}\n`);
  process.exitCode = 1;
}
