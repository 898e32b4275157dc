import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Kind } from './question.ts';

/** Which line of the tables. */
export interface LineName {
  /** How many requests the store holds. */
  readonly rows: number;
  readonly question: string;
  readonly subject: string;
  readonly window: string;
}

/** What each answerer took, round by round, in ms. */
export interface Line extends LineName {
  readonly kind: Kind;
  readonly ours: readonly number[];
  readonly floor: readonly number[];
  readonly peer: readonly number[];
  /** PostgreSQL again, its indexes for finding rows only. */
  readonly peerPlain: readonly number[];
  /** The way by hand that was the fastest. */
  readonly floorName: string;
  /** Of the API's answer. */
  readonly bytes: number;
}

/** The figures taken so far, in a file of the benchmark's folder. */
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
    one.question === other.question &&
    one.subject === other.subject &&
    one.window === other.window;
  return {
    lines,
    has: (name) => lines.some((line) => isSame(line, name)),
    async add(line) {
      const place = lines.findIndex((known) => isSame(known, line));
      if (place === -1) lines.push(line);
      else lines[place] = line;
      await writeFile(`${path}.new`, JSON.stringify(lines));
      await rename(`${path}.new`, path);
    },
  };
}
