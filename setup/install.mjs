// Installs the packages of the lockfile before anything else runs. Plain JavaScript for the system's Node 20, because the
// TypeScript sources need the Node 24 that this step installs. Does nothing when the lockfile has not changed.
//
// Installs production dependencies only; --with-dev adds those for tests and checks. Installed packages stay, because a
// service may be running on them: only a changed lockfile replaces them. With --for-start a service that runs already is
// found by its ports first, and nothing is replaced under it. No install scripts run.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { portInUse } from './ports.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const stampFile = join(root, 'node_modules', '.gatehouse-install');
const lock = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .update(`${process.platform}-${process.arch}`)
  .digest('hex');
// Stamps of earlier versions name no set; those versions installed everything.
const [installedLock, installedSet = 'all'] = existsSync(stampFile)
  ? readFileSync(stampFile, 'utf8').trim().split(' ')
  : [undefined, 'run'];
const isSameLock = installedLock === lock;
const set = process.argv.includes('--with-dev') || installedSet === 'all' ? 'all' : 'run';

const major = Number(process.versions.node.split('.')[0]);
if (major < 20) {
  process.stderr.write(`Gatehouse needs Node 20 or newer to install itself; this is ${process.version}.\n`);
  process.exit(1);
}

const isInstalled = isSameLock && set === installedSet;

const inUse = !isInstalled && process.argv.includes('--for-start') ? await portInUse(process.env) : undefined;
if (inUse !== undefined) {
  process.stderr.write(`gatehouse: ${inUse}. Nothing was installed.\n`);
  process.exit(1);
}

if (!isInstalled) {
  const isAddition = isSameLock;
  process.stdout.write(
    isAddition
      ? 'Adding the packages that tests and checks need (about 270 MB; once) ...\n'
      : `Installing the packages that package-lock.json names (about ${set === 'all' ? '1.3 GB' : '1 GB'}; once) ...\n`,
  );
  const startedAt = Date.now();
  // npm ci first removes installed packages. Both commands install exactly what the lockfile names and do not change it.
  const command = isAddition ? ['install', '--no-save'] : ['ci'];
  const which = set === 'all' ? '--include=dev' : '--omit=dev';
  const options = [which, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const result = spawnSync('npm', [...command, ...options], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (result.error || result.status !== 0) {
    const why = result.error ? result.error.message : `npm ${command[0]} ended with status ${result.status}`;
    process.stderr.write(
      `The installation failed (${why}). Check the network and the npm registry, then run this again.\n`,
    );
    process.exit(1);
  }
  // The installed Node needs glibc. Without this check the start would fail with a misleading error.
  const node = join(root, 'node_modules', '.bin', 'node');
  if (existsSync(node) && spawnSync(node, ['--version']).status !== 0) {
    process.stderr.write(
      'The installed Node 24 cannot run here. On Linux it needs glibc (Alpine has musl): use a glibc distribution.\n',
    );
    process.exit(1);
  }
  writeFileSync(stampFile, `${lock} ${set}`);
  process.stdout.write(`Installed in ${((Date.now() - startedAt) / 1000).toFixed(0)} s.\n`);
}
