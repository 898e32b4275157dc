import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A Chromium that runs here. */
export interface ChromiumProgram {
  readonly path: string;
  readonly environment: Readonly<Record<string, string>>;
}

const UNPACK_MS = 120_000;

/** Debian's Chromium, the whole browser, with a profile and its settings; undefined where it is not installed. */
export function findWholeChromium(): ChromiumProgram | undefined {
  const program = { path: '/usr/bin/chromium', environment: { PATH: process.env['PATH'] ?? '' } };
  return runs(program) ? program : undefined;
}

/**
 * The headless Chromium of the npm package, which is unpacked once: the same everywhere, and a page costs it a third of what it costs
 * Debian's Chromium, which opens windows that nobody sees. Debian's where that one cannot run.
 */
export async function findChromium(): Promise<ChromiumProgram> {
  const folder = await unpacked();
  const path = join(folder, 'chromium');
  // Its own fonts, so that pages look the same on every machine.
  const environment = {
    PATH: process.env['PATH'] ?? '',
    FONTCONFIG_FILE: join(import.meta.dirname, 'fonts.conf'),
  };
  const withLibraries = { ...environment, LD_LIBRARY_PATH: join(folder, 'al2023/lib') };
  const own = [environment, withLibraries].map((one) => ({ path, environment: one })).find(runs);
  const found = own ?? findWholeChromium();
  if (found === undefined)
    throw new Error(
      'Chromium of @sparticuz/chromium cannot run here; on Debian, install the package chromium',
    );
  return found;
}

function runs({ path, environment }: ChromiumProgram): boolean {
  return (
    existsSync(path) && spawnSync(path, ['--version'], { env: environment, stdio: 'ignore' }).status === 0
  );
}

/** The folder of the unpacked program. It is complete whenever it exists: it is unpacked beside, then renamed. */
async function unpacked(): Promise<string> {
  const root = dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium')));
  const { version } = JSON.parse(await readFile(join(root, '../package.json'), 'utf8')) as {
    version: string;
  };
  // Not in the system's temporary directory, where another user could put a program under its name.
  const cache = join(import.meta.dirname, '../../node_modules/.cache/gatehouse-chromium');
  const folder = join(cache, version);
  if (existsSync(folder)) return folder;
  const temporary = join(cache, `.${randomUUID()}`);
  await mkdir(temporary, { recursive: true });
  try {
    const { status, stderr } = spawnSync(
      process.execPath,
      [join(import.meta.dirname, 'unpack-chromium-main.ts')],
      { env: { PATH: process.env['PATH'] ?? '', TMPDIR: temporary }, encoding: 'utf8', timeout: UNPACK_MS },
    );
    if (status !== 0) throw new Error(`Chromium could not be unpacked: ${stderr}`);
    // Another test file may have been faster.
    await rename(temporary, folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  return folder;
}
