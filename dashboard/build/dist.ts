import { randomUUID } from 'node:crypto';
import { access, glob, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

// The folder of the built page. A name in assets/ has a hash of its content, so two builds at once write the same bytes
// to it, and the files of the build before stay for the pages that are open. Each file is written beside its place and
// renamed: a reader gets all of a file. The page is renamed after its assets, the record of the build last.

const RECORD = 'build.json';

/** The contents of the folder. */
export interface BuildRecord {
  readonly stamp: string;
  readonly files: readonly string[];
  /** The files of the build before; their assets are still there. */
  readonly earlierFiles: readonly string[];
}

/** The record of the last build; undefined where there is none or it cannot be read. */
export async function readRecord(dist: string): Promise<BuildRecord | undefined> {
  try {
    return JSON.parse(await readFile(join(dist, RECORD), 'utf8')) as BuildRecord;
  } catch {
    return undefined;
  }
}

/** True if every file of the build is there. */
export async function isComplete(dist: string, { files }: BuildRecord): Promise<boolean> {
  const found = await Promise.allSettled(files.map((path) => access(join(dist, path))));
  return found.every(({ status }) => status === 'fulfilled');
}

/** Puts a build in place of the one before. */
export async function writeDist(
  dist: string,
  stamp: string,
  files: ReadonlyMap<string, Uint8Array>,
): Promise<void> {
  const before = await readRecord(dist);
  const paths = [...files.keys()].sort();
  const assets = paths.filter((path) => path.startsWith('assets/'));
  const pages = paths.filter((path) => !path.startsWith('assets/'));
  await mkdir(join(dist, 'assets'), { recursive: true });
  for (const path of [...assets, ...pages]) await put(join(dist, path), files.get(path) as Uint8Array);
  const isSame = before?.files.join() === paths.join();
  const earlierFiles = (isSame ? before?.earlierFiles : before?.files) ?? [];
  const record: BuildRecord = { stamp, files: paths, earlierFiles };
  await put(join(dist, RECORD), JSON.stringify(record));
  await removeOlder(
    dist,
    new Set([RECORD, ...paths, ...earlierFiles.filter((path) => path.startsWith('assets/'))]),
  );
}

async function put(path: string, content: Uint8Array | string): Promise<void> {
  const temporary = join(dirname(path), `.${randomUUID()}`);
  try {
    await writeFile(temporary, content);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function removeOlder(dist: string, kept: ReadonlySet<string>): Promise<void> {
  for await (const path of glob('{*.*,assets/*}', { cwd: dist })) {
    // A name that begins with a dot is being written.
    if (!kept.has(path) && !/(^|\/)\./.test(path)) await rm(join(dist, path), { force: true });
  }
}
