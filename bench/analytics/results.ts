import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Kind } from './bench-query.ts';

/** Identifies a line of the tables. */
export interface LineName {
  /** How many requests the store holds. */
  readonly rows: number;
  readonly query: string;
  readonly subject: string;
  readonly window: string;
}

/** The times of each round, in ms. */
export interface Line extends LineName {
  readonly kind: Kind;
  readonly api: readonly number[];
  readonly baseline: readonly number[];
  readonly reference: readonly number[];
  /** PostgreSQL with indexes that only find rows. */
  readonly referencePlain: readonly number[];
  /** The fastest form by hand. */
  readonly baselineName: string;
  /** The bytes of the API's answer. */
  readonly bytes: number;
}

/** The results so far, in a file of the benchmark's directory. */
export interface Results {
  readonly lines: readonly Line[];
  has(name: LineName): boolean;
  add(line: Line): Promise<void>;
}

export async function openResults(directory: string): Promise<Results> {
  const path = join(directory, 'results.json');
  const text = await readFile(path, 'utf8').catch(() => '[]');
  const lines = JSON.parse(text) as Line[];
  const isSame = (one: LineName, other: LineName) =>
    one.rows === other.rows &&
    one.query === other.query &&
    one.subject === other.subject &&
    one.window === other.window;
  return {
    lines,
    has: (name) => lines.some((line) => isSame(line, name)),
    async add(line) {
      const index = lines.findIndex((known) => isSame(known, line));
      if (index === -1) lines.push(line);
      else lines[index] = line;
      await writeFile(`${path}.new`, JSON.stringify(lines));
      await rename(`${path}.new`, path);
    },
  };
}
