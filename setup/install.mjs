// Installs the packages of the lockfile before anything else runs. Plain JavaScript for the system's Node 20, because the
// TypeScript sources need the Node 24 that this step installs. Does nothing where the packages are there.
//
// Installs production dependencies only; --with-dev adds those for tests and checks. Installed packages stay, because a
// service may be running on them: only a changed lockfile replaces them, and never under a running service. With --for-start a
// service that runs already is found by its ports, too. No install scripts run.
//
// The stamp says which packages this step installed. It is written after they were examined, and they are examined again each time.
// Packages that npm installed by hand (`npm ci --omit=dev`), and those that were pruned for production, have no such stamp: a command
// runs on them as long as none is missing, and leaves it to the operator to renew them.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installing, lock, tryReplacePackages } from './locks.mjs';
import { examinePackages, fingerprint, reachedPackages, readPackages, wantedPackages } from './packages.mjs';
import { portInUse } from './ports.mjs';
import { endWithParents, runNpm } from './run-npm.mjs';
import { runningProcess } from './running.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const modules = join(root, 'node_modules');
const stampFile = join(modules, '.gatehouse-install');
// npm writes it when it has installed everything.
const listFile = join(modules, '.package-lock.json');
// Exists while packages are replaced. It holds those that were installed before, until the new ones are complete.
const previous = join(root, '.previous');
const previousModules = join(previous, 'node_modules');

const withDev = process.argv.includes('--with-dev');
const forStart = process.argv.includes('--for-start');
const major = Number(process.versions.node.split('.')[0]);

/** Ends the installation with one message. */
class InstallError extends Error {}

async function main() {
  if (major < 20)
    throw new InstallError(`Node 20 or newer is needed for the installation; this is ${process.version}.`);
  const packages = lockedPackages();
  const { action, warning } = examine(packages);
  if (warning !== undefined)
    process.stderr.write(
      `gatehouse: the installed packages are not those of package-lock.json (${warning}); to renew them, stop the service and run npm ci --omit=dev --ignore-scripts\n`,
    );
  if (action !== 'none') await install(packages);
  else if (existsSync(previous) && findReadOnly() === undefined) await install(packages);
}

function lockedPackages() {
  try {
    return readPackages(root);
  } catch (error) {
    throw new InstallError(
      error instanceof SyntaxError
        ? 'package-lock.json is not valid JSON; restore it, for example with git checkout package-lock.json'
        : `package-lock.json cannot be read: ${error.message}`,
    );
  }
}

/** The work to do: `none`, `add` or `replace`; for which set; and why. */
function examine(packages) {
  const { hash, set, options } = readStamp();
  if (hash === undefined) return examineForeign(packages, undefined);
  if (hash === 'pruned') return examineForeign(packages, reachedPackages(packages, new Set(options)));
  return examineOwn(packages, hash, set);
}

function examineOwn(packages, hash, installed) {
  const set = withDev || installed === 'all' ? 'all' : 'run';
  if (hash !== fingerprint(packages) && hash !== hashOfFile())
    return { action: 'replace', set, why: 'package-lock.json has changed' };
  const why = firstIssue(packages, installed);
  if (why !== undefined) return { action: 'replace', set, why };
  return { action: set === installed ? 'none' : 'add', set };
}

/** For packages that npm installed by hand, or that were pruned to those that are given. */
function examineForeign(packages, pruned) {
  const set = withDev ? 'all' : 'run';
  if (existsSync(previous)) return { action: 'replace', set, why: 'an installation ended in the middle' };
  // Another Node of this machine may run the service.
  const isNeeded = (key) =>
    packages[key].link ||
    ((pruned?.has(key) ?? true) &&
      (major < 24 || !key.startsWith('node_modules/node-linux-') || existsSync(join(root, key))));
  const { missing, others } = examinePackages(
    root,
    packages,
    wantedPackages(packages, 'run').filter(isNeeded),
  );
  if (pruned === undefined && !existsSync(listFile)) missing.push('npm has not installed all of them');
  const [why] = [...missing, ...others];
  if (missing.length > 0 || (why !== undefined && (withDev || forStart)))
    return { action: 'replace', set, why };
  if (!withDev) return { action: 'none', warning: why };
  if (pruned !== undefined) return { action: 'replace', set, why: 'they were pruned' };
  return { action: firstIssue(packages, 'all') === undefined ? 'none' : 'add', set };
}

function firstIssue(packages, set) {
  const { missing, others } = examinePackages(root, packages, wantedPackages(packages, set));
  return [...missing, ...others][0];
}

/** The stamps of earlier versions have the hash of the file, and the oldest of them no set: those versions installed everything. */
function readStamp() {
  try {
    const [hash, set = 'all', ...options] = readFileSync(stampFile, 'utf8').trim().split(' ');
    return { hash, set, options };
  } catch {
    return {};
  }
}

function hashOfFile() {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .update(`${process.platform}-${process.arch}`)
    .digest('hex');
}

async function install(packages) {
  const readOnly = findReadOnly();
  if (readOnly !== undefined)
    throw new InstallError(`packages have to be installed, and this user cannot write to ${readOnly}.`);
  endWithParents();
  const own = await lock(installing(root), () =>
    process.stdout.write('Another process is installing packages in this folder; waiting for it ...\n'),
  );
  // Another process may have installed them meanwhile.
  const { action, set, why } = examine(packages);
  const startedAt = Date.now();
  if (action === 'replace') await replace(packages, set, why, own);
  else removePrevious();
  if (action === 'add') await add(packages, own);
  if (action !== 'none')
    process.stdout.write(`Installed in ${((Date.now() - startedAt) / 1000).toFixed(0)} s.\n`);
}

/** The first folder that an installation changes and this user may not; for instance one that root made. */
function findReadOnly() {
  return [root, modules, previous].find((folder) => {
    try {
      accessSync(folder, constants.W_OK);
      return false;
    } catch (error) {
      return error.code !== 'ENOENT';
    }
  });
}

function removePrevious() {
  try {
    rmSync(previous, { recursive: true, force: true });
  } catch (error) {
    process.stderr.write(
      `gatehouse: the packages from before cannot be removed (${error.message}); remove ${previous} as the user to whom they belong\n`,
    );
  }
}

/** Adds development dependencies. Nothing changes that a service runs on. */
async function add(packages, own) {
  process.stdout.write('Adding the packages that tests and checks need (about 270 MB; once) ...\n');
  // npm takes a package for complete once its package.json is there, so what an earlier attempt left behind is removed.
  for (const key of wantedPackages(packages, 'all'))
    if (packages[key].dev) rmSync(join(root, key), { recursive: true, force: true });
  await npm(['install', '--no-save'], 'all', [own]);
  finish(packages, 'all');
}

/** Installs everything again, if nothing runs on what is installed. Puts that back if it fails. */
async function replace(packages, set, why, own) {
  const port = forStart ? await portInUse(process.env) : undefined;
  if (port !== undefined) throw new InstallError(`${port}. Nothing was installed.`);
  const pid = runningProcess(root);
  const free = pid === undefined ? tryReplacePackages(root) : undefined;
  if (free === undefined)
    throw new InstallError(
      `packages have to be installed (${why}), and Gatehouse is running from this folder${pid === undefined ? '' : ` (process ${pid})`}; stop it first. Nothing was installed.`,
    );
  process.stdout.write(
    `Installing the packages that package-lock.json names (about ${set === 'all' ? '1.3 GB' : '1 GB'}; once) ...\n`,
  );
  putAside();
  try {
    await npm(['ci'], set, [own, free]);
    finish(packages, set);
  } catch (error) {
    if (putBack()) error.message += ' The packages from before are back.';
    throw error;
  } finally {
    removePrevious();
  }
}

function putAside() {
  const isHalfDone = existsSync(previous) && !existsSync(stampFile);
  if (isHalfDone) {
    if (hasPrevious()) rmSync(modules, { recursive: true, force: true });
    return;
  }
  removePrevious();
  mkdirSync(previous);
  try {
    renameSync(modules, previousModules);
  } catch {
    // There is none; or it is a mount, and npm removes what is in it.
    rmSync(stampFile, { force: true });
  }
}

/** A relative link leads nowhere from there. */
function hasPrevious() {
  return lstatSync(previousModules, { throwIfNoEntry: false }) !== undefined;
}

function putBack() {
  const isThere = hasPrevious();
  rmSync(isThere ? modules : listFile, { recursive: true, force: true });
  if (isThere) renameSync(previousModules, modules);
  return isThere;
}

/** Both commands install exactly what the lockfile names and do not change it. */
async function npm(command, set, locks) {
  const which = set === 'all' ? '--include=dev' : '--omit=dev';
  const options = [
    which,
    // The user's own settings of npm decide neither what is installed nor where.
    '--include=optional',
    '--install-strategy=hoisted',
    '--bin-links',
    '--package-lock',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ];
  const failure = await runNpm([...command, ...options], { cwd: root, locks });
  if (failure !== undefined)
    throw new InstallError(
      `the installation failed (${failure}). Check npm, the network and the npm registry, then run this again.`,
    );
}

/** Writes the stamp, once everything that it says is there. */
function finish(packages, set) {
  // The installed Node needs glibc. Without this check the start would fail with a misleading error.
  const node = join(modules, '.bin', 'node');
  if (existsSync(node) && spawnSync(node, ['--version']).status !== 0)
    throw new InstallError(
      'the installed Node 24 cannot run here. On Linux it needs glibc (Alpine has musl): use a glibc distribution.',
    );
  const issue = firstIssue(packages, set);
  if (issue !== undefined)
    throw new InstallError(
      `the installation is not complete (${issue}). Check that nothing else changes node_modules, then run this again.`,
    );
  mkdirSync(modules, { recursive: true });
  writeFileSync(`${stampFile}.new`, `${fingerprint(packages)} ${set}`);
  renameSync(`${stampFile}.new`, stampFile);
}

function messageOf(error) {
  if (error instanceof InstallError) return error.message;
  const remedy = ['EACCES', 'EPERM'].includes(error.code)
    ? ` Give the folder to this user: chown -R ${process.getuid?.()} ${root}`
    : '';
  // Without a code it is no error of the system.
  return error.code === undefined ? error.stack : `the installation failed (${error.message}).${remedy}`;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`gatehouse: ${messageOf(error)}\n`);
  process.exitCode = 1;
}
