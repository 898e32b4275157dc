import { createHash } from 'node:crypto';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

// The files of the dashboard, read once: a request never reaches the file system, so no path of a request can leave
// the folder. Only what the build writes is read: the page, and regular files of known kinds in assets/.

export const ENCODINGS = ['br', 'gzip'] as const;
export type Encoding = (typeof ENCODINGS)[number];

const SUFFIXES: Readonly<Record<Encoding, string>> = { br: '.br', gzip: '.gz' };

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
};

export interface Content {
  readonly bytes: Buffer;
  readonly etag: string;
}

export interface DashboardFile {
  readonly contentType: string;
  readonly identity: Content;
  readonly encoded: ReadonlyMap<Encoding, Content>;
}

export interface DashboardFiles {
  readonly page: DashboardFile;
  /** By their path, with the slash in front. */
  readonly assets: ReadonlyMap<string, DashboardFile>;
}

/** Many times what the dashboard has. They stay in memory. */
const MAX_FILES = 2_000;
const MAX_BYTES = 64 * 1_048_576;

/** Reads a built dashboard. Throws when the page is missing, or when the folder holds more than a dashboard does. */
export async function readDashboard(folder: string, maxBytes = MAX_BYTES): Promise<DashboardFiles> {
  const names = (await readdir(join(folder, 'assets'))).filter((name) => /^\w[\w.-]{0,199}$/.test(name));
  if (names.length > MAX_FILES) throw new Error(`${folder} has more than ${MAX_FILES} files`);
  const contents = new Map<string, Buffer>();
  let bytes = 0;
  for (const path of ['index.html', ...names.map((name) => `assets/${name}`)]) {
    for (const variant of path === 'index.html' ? [path, `${path}.br`, `${path}.gz`] : [path]) {
      const content = await readRegularFile(join(folder, variant));
      if (content === undefined) continue;
      bytes += content.length;
      if (bytes > maxBytes) throw new Error(`the files in ${folder} have more than ${maxBytes} bytes`);
      contents.set(variant, content);
    }
  }
  const page = fileOf('index.html', contents);
  if (!page) throw new Error(`${folder} has no index.html`);
  const assets = names.flatMap((name) => {
    const file = fileOf(`assets/${name}`, contents);
    return file ? [[`/assets/${name}`, file] as const] : [];
  });
  return { page, assets: new Map(assets) };
}

/** Undefined for what is no regular file, and for a file that a build has just removed. */
async function readRegularFile(path: string): Promise<Buffer | undefined> {
  try {
    return (await lstat(path)).isFile() ? await readFile(path) : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function fileOf(path: string, contents: ReadonlyMap<string, Buffer>): DashboardFile | undefined {
  const contentType = CONTENT_TYPES[extname(path)];
  const bytes = contents.get(path);
  if (contentType === undefined || bytes === undefined) return undefined;
  const encoded = ENCODINGS.flatMap((encoding) => {
    const variant = contents.get(path + SUFFIXES[encoding]);
    return variant ? [[encoding, contentOf(variant)] as const] : [];
  });
  return { contentType, identity: contentOf(bytes), encoded: new Map(encoded) };
}

function contentOf(bytes: Buffer): Content {
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` };
}
