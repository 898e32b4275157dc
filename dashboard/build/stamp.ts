import { createHash } from 'node:crypto';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';

// Everything that the built page depends on: its sources, those of the SDK that it contains, how it is built, and the
// lock file, which names the version of every package.
const SOURCES = [
  'dashboard/{src,build}/**/*',
  'dashboard/package.json',
  'dashboard/tsconfig.json',
  'sdk/src/**/*',
  'sdk/package.json',
  'package-lock.json',
];

/** A hash of all sources. The same sources give the same stamp, wherever they are and whenever they were written. */
export async function stampOfSources(root: string): Promise<string> {
  const entries = await Array.fromAsync(glob(SOURCES, { cwd: root, withFileTypes: true }));
  const paths = entries
    .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const hash = createHash('sha256');
  for (const path of paths) {
    const content = await readFile(path);
    hash.update(`${path.slice(root.length)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}
