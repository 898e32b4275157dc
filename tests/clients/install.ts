import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';

// The real client programs and SDKs: some 800 MB that only these tests need, so they have a lockfile of their own and are
// no part of the project's installation. `npm test` installs them when they are missing or their lockfile has changed; a
// later run needs no network.

const directory = import.meta.dirname;
const lockFile = join(directory, 'package-lock.json');
const stampFile = join(directory, 'node_modules', '.installed-lock.json');

/** Installs the packages if they are not there. One process at a time may call it. */
export async function installClients(): Promise<void> {
  if (await isInstalled()) return;
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const child = spawn('npm', ['ci', ...options], { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const [status] = await once(child, 'close');
  if (status !== 0) {
    throw new Error(
      `The client programs that the tests use were not installed (npm ci in tests/clients ended with ${status}). Check the network and the npm registry.\n${output}`,
    );
  }
  await writeFile(stampFile, await readFile(lockFile));
}

/** A package of tests/clients/package.json. Its types are not known: the project's own checks run without it. */
export async function importClient(name: string): Promise<Record<string, unknown>> {
  await assertInstalled();
  return import(createRequire(join(directory, 'package.json')).resolve(name));
}

/** The path of a file of an installed package. */
export async function clientFile(...path: readonly string[]): Promise<string> {
  await assertInstalled();
  return join(directory, 'node_modules', ...path);
}

async function assertInstalled(): Promise<void> {
  if (!(await isInstalled())) {
    throw new Error('The client programs are not installed: run `npm test -- tests/clients` once.');
  }
}

async function isInstalled(): Promise<boolean> {
  const [installed, wanted] = await Promise.all([
    readFile(stampFile).catch(() => undefined),
    readFile(lockFile),
  ]);
  return installed?.equals(wanted) ?? false;
}
