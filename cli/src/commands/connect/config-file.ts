import { randomBytes } from 'node:crypto';
import { lstat, mkdir, open, readFile, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { CommandError } from '../../terminal/errors.ts';

const MAX_BYTES = 1024 * 1024;
const MAX_BACKUPS = 1_000;
const MAX_LINKS = 40;

/** A client's configuration file as it is. */
export interface ConfigFile {
  /** The real path: a link to it stays a link. */
  readonly path: string;
  /** Undefined where there is none yet. */
  readonly text: string | undefined;
  /** True if other accounts of this machine can read it. */
  readonly isReadableByOthers: boolean;
}

/** The first of these files that exists; the last of the list, to be made, where none does. */
export async function findConfigFile(paths: readonly string[]): Promise<ConfigFile> {
  let file: ConfigFile | undefined;
  for (const path of paths) {
    file = await readConfigFile(path);
    if (file.text !== undefined) return file;
  }
  if (!file) throw new Error('a client has no configuration file');
  return file;
}

/** Reads the file. Throws CommandError where it is not one that could be changed. */
export async function readConfigFile(path: string): Promise<ConfigFile> {
  try {
    const real = await realpath(path);
    const { size, mode } = await stat(real).then((found) => {
      if (!found.isFile()) throw new CommandError(`${path} is not a file`);
      return found;
    });
    if (size > MAX_BYTES) throw new CommandError(`${path} is larger than a configuration is`);
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(real));
    return { path: real, text, isReadableByOthers: (mode & 0o044) !== 0 };
  } catch (error) {
    if (error instanceof CommandError) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      return { path: await missingFile(path), text: undefined, isReadableByOthers: false };
    throw new CommandError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

/** The path for a file that is missing: a link without its file stays a link. */
async function missingFile(path: string): Promise<string> {
  let place = path;
  for (let links = 0; links < MAX_LINKS; links += 1) {
    const target = await readlink(place).catch(() => undefined);
    if (target === undefined) break;
    place = resolve(dirname(place), target);
  }
  if (place === path) return path;
  const directory = await lstat(dirname(place)).catch(() => undefined);
  if (directory) return place;
  throw new CommandError(
    `${path} is a link to ${place}, and ${dirname(place)} is missing; make it, or remove the link`,
  );
}

/**
 * Replaces the file in one step; its owner and its mode stay, but one with a key is for its owner only, as a new one is.
 * Returns the path of a copy of the file as it was, undefined where there was none. Throws CommandError where it was
 * changed since it was read, is read-only or another user's.
 */
export async function replaceConfigFile(
  file: ConfigFile,
  text: string,
  hasKey: boolean,
): Promise<string | undefined> {
  const { path } = file;
  const draft = `${path}.${randomBytes(4).toString('hex')}`;
  try {
    const { owner, mode } = await writableBy(file);
    await makeDirectory(dirname(path), owner);
    const backup = file.text === undefined ? undefined : await backUp(path, file.text, owner);
    await writeNew(draft, text, owner, hasKey ? mode & 0o700 : mode);
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

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Root writes for the owner of the file, or of the directory that it will be in. */
async function writableBy({ path, text }: ConfigFile): Promise<{ owner: Owner | undefined; mode: number }> {
  const me = process.geteuid?.();
  if (text === undefined)
    return { owner: me === 0 ? await ownerOfDirectory(dirname(path)) : undefined, mode: 0o600 };
  const { uid, gid, mode } = await stat(path);
  if ((mode & 0o222) === 0)
    throw new CommandError(`${path} is read-only; make it writable, or add the lines by hand`);
  if (me !== undefined && me !== 0 && me !== uid)
    throw new CommandError(`${path} belongs to another user (uid ${uid}); run this as that user`);
  return { owner: me === 0 ? { uid, gid } : undefined, mode: mode & 0o7777 };
}

async function ownerOfDirectory(path: string): Promise<Owner> {
  return stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' && dirname(path) !== path) return ownerOfDirectory(dirname(path));
    throw error;
  });
}

async function makeDirectory(path: string, owner: Owner | undefined): Promise<void> {
  if (await stat(path).catch(() => undefined)) return;
  if (dirname(path) !== path) await makeDirectory(dirname(path), owner);
  await mkdir(path, { mode: 0o700 });
  if (!owner) return;
  const handle = await open(path, 'r');
  await handle.chown(owner.uid, owner.gid).finally(() => handle.close());
}

async function writeNew(path: string, text: string, owner: Owner | undefined, mode: number): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    if (owner) await handle.chown(owner.uid, owner.gid);
    await handle.chmod(mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Copies the file to the first free name, for its owner only: it may hold keys. */
async function backUp(path: string, text: string, owner: Owner | undefined): Promise<string> {
  for (let number = 1; number <= MAX_BACKUPS; number += 1) {
    const backup = `${path}.before-gatehouse${number === 1 ? '' : `-${number}`}`;
    try {
      await writeNew(backup, text, owner, 0o600);
      return backup;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  throw new CommandError(`${path} has ${MAX_BACKUPS} copies beside it already; remove some`);
}
