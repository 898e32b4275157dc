import { closeSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { lock } from '../../setup/locks.mjs';
import { runNpm } from '../../setup/run-npm.mjs';

// The real client programs and SDKs: some 850 MB that only these tests need, so they have a lockfile of their own and are
// no part of the project's installation. `npm test` installs them when they are missing or their lockfile has changed; a
// later run needs no network.

const directory = import.meta.dirname;
const lockFile = join(directory, 'package-lock.json');
const stampFile = join(directory, 'node_modules', '.installed-lock.json');

/** Installs the packages if they are not there. Another process that does so is waited for. */
export async function installClients(): Promise<void> {
  if (await isInstalled()) return;
  const own = await lock(directory, () =>
    process.stdout.write('Another process is installing the client programs; waiting for it ...\n'),
  );
  try {
    if (await isInstalled()) return;
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    const failure = await runNpm(['ci', ...options], { cwd: directory, locks: [own], output: 'pipe' });
    if (failure !== undefined) {
      throw new Error(
        `The client programs that the tests use were not installed (${failure}). Check the network and the npm registry.`,
      );
    }
    await writeFile(stampFile, await readFile(lockFile));
  } finally {
    if (typeof own === 'number') closeSync(own);
  }
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
