import { randomBytes } from 'node:crypto';
import { constants, copyFile, mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandError } from '../errors.ts';

const LARGEST_BYTES = 1024 * 1024;
const MOST_BACKUPS = 1_000;

/** A client's configuration file as it is. */
export interface ConfigFile {
  /** Where it really is: a link to it stays a link. */
  readonly path: string;
  /** Undefined where there is none yet. */
  readonly text: string | undefined;
  /** Whether other accounts of this machine can read it. */
  readonly isReadableByOthers: boolean;
}

/** Reads the file. Throws CommandError where it is not one that could be changed. */
export async function readConfigFile(path: string): Promise<ConfigFile> {
  try {
    const real = await realpath(path);
    const { size, mode } = await stat(real).then((found) => {
      if (!found.isFile()) throw new CommandError(`${path} is not a file`);
      return found;
    });
    if (size > LARGEST_BYTES) throw new CommandError(`${path} is larger than a configuration is`);
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(real));
    return { path: real, text, isReadableByOthers: (mode & 0o044) !== 0 };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return { path, text: undefined, isReadableByOthers: false };
    }
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

/**
 * Replaces the file in one step; its mode stays, and a new one is for its owner only. Returns the path of a copy of the
 * file as it was, undefined where there was none. Throws CommandError where it was changed since it was read.
 */
export async function replaceConfigFile(file: ConfigFile, text: string): Promise<string | undefined> {
  const { path } = file;
  const draft = `${path}.${randomBytes(4).toString('hex')}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const backup = file.text === undefined ? undefined : await backUp(path);
    const mode = file.text === undefined ? 0o600 : (await stat(path)).mode & 0o7777;
    const handle = await open(draft, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if ((await readConfigFile(path)).text !== file.text) {
      throw new CommandError(`${path} was changed by something else; nothing was written`);
    }
    await rename(draft, path);
    return backup;
  } catch (error) {
    await rm(draft, { force: true });
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${path} cannot be written: ${(error as Error).message}`);
  }
}

/** Copies the file to the first free name, with its mode. */
async function backUp(path: string): Promise<string> {
  for (let number = 1; number <= MOST_BACKUPS; number += 1) {
    const backup = `${path}.before-gatehouse${number === 1 ? '' : `-${number}`}`;
    try {
      await copyFile(path, backup, constants.COPYFILE_EXCL);
      return backup;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  throw new CommandError(`${path} has ${MOST_BACKUPS} copies beside it already; remove some`);
}
