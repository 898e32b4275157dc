import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { isAbsolute, join, normalize } from 'node:path';
import { CommandError } from '../../terminal/errors.ts';

/** The version of the backup format. Every change of the format increments it. */
export const FORMAT = 1;
export const MANIFEST = 'manifest.json';
/** The SHA-256 of the manifest, which nothing else protects. */
export const MANIFEST_HASH = 'manifest.json.sha256';

/** The content of a backup. */
export interface Manifest {
  readonly format: number;
  /** The version of Gatehouse that made it. */
  readonly gatehouse: string;
  /** The backup includes everything committed before this time. */
  readonly made_at: string;
  readonly postgres: { readonly version: string; readonly start_lsn: string; readonly stop_lsn: string };
  readonly clickhouse: {
    readonly version: string;
    readonly schema: number;
    readonly tables: readonly {
      readonly name: string;
      readonly rows: number;
      readonly parts: readonly string[];
    }[];
  };
  readonly journal: { readonly segments: number; readonly records: number };
  readonly directories: readonly string[];
  readonly files: readonly { readonly path: string; readonly bytes: number; readonly sha256: string }[];
}

export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** The number of rows in the copied request log. */
export function requestLogRows({ clickhouse }: Pick<Manifest, 'clickhouse'>): number {
  return clickhouse.tables.find(({ name }) => name === 'request_log')?.rows ?? 0;
}

/** Reads the manifest of a backup. Throws CommandError if the directory is not a backup, or is damaged. */
export async function readManifest(directory: string): Promise<Manifest> {
  const [text, noted] = await Promise.all(
    [MANIFEST, MANIFEST_HASH].map((name) =>
      readFile(join(directory, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
        throw new CommandError(
          error.code === 'ENOENT'
            ? `${directory} is not a complete backup: it has no ${name}`
            : `the backup cannot be read: ${error.message}`,
        );
      }),
    ),
  );
  if (text === undefined || noted?.trim() !== sha256(text))
    throw new CommandError(`the backup is damaged: ${join(directory, MANIFEST)} does not match its checksum`);
  const document: unknown = JSON.parse(text);
  const form = (document as { format?: unknown }).format;
  if (form !== FORMAT) {
    throw new CommandError(
      `${directory} is a backup in format ${JSON.stringify(form)}, and this version reads format ${FORMAT}: use the version that made it`,
    );
  }
  const manifest = document as Manifest;
  const paths = [
    ...manifest.directories,
    ...manifest.files.map((file) => file.path),
    ...manifest.clickhouse.tables.flatMap(({ name, parts }) => [name, ...parts]),
  ];
  // The checksum only detects accidents. No path in a manifest may lead outside of the backup.
  const outside = paths.find((path) => !leadsInside(path));
  if (outside === undefined) return manifest;
  throw new CommandError(
    `${join(directory, MANIFEST)} names ${JSON.stringify(outside)}, which is not a path inside a backup`,
  );
}

function leadsInside(path: unknown): boolean {
  return (
    typeof path === 'string' &&
    path !== '' &&
    !isAbsolute(path) &&
    normalize(path) === path &&
    !/(^|\/)\.\.(\/|$)|\0|\\/.test(path)
  );
}

/** Reads every file of a backup once. Throws CommandError, naming the first that is damaged. */
export async function verifyFiles(
  directory: string,
  { files }: Manifest,
  onProgress: (doneBytes: number, ofBytes: number) => void = () => undefined,
): Promise<void> {
  const ofBytes = files.reduce((sum, { bytes }) => sum + bytes, 0);
  let doneBytes = 0;
  for (const file of files) {
    const path = join(directory, file.path);
    const found = await stat(path).catch(() => undefined);
    if (!found?.isFile()) throw new CommandError(`the backup is damaged: ${path} is missing`);
    if (found.size !== file.bytes) {
      throw new CommandError(
        `the backup is damaged: ${path} has ${found.size} bytes and should have ${file.bytes}`,
      );
    }
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
    if (hash.digest('hex') !== file.sha256)
      throw new CommandError(`the backup is damaged: ${path} does not match its checksum`);
    doneBytes += file.bytes;
    onProgress(doneBytes, ofBytes);
  }
}
