// Random tests run a quarter of their cases a day, chosen by the date, and all of them where SEEDS=all. A failure prints its seed, and
// `SEED=17 npm test -- FILE` repeats that one.

const PARTS = 4;
const DAY_MS = 24 * 60 * 60_000;

const only = process.env['SEED'] === undefined ? undefined : Number(process.env['SEED']);
const isWhole = process.env['SEEDS'] === 'all';
const part = Math.floor(Date.now() / DAY_MS) % PARTS;

/** The seeds to run, of those from 1 to `count`. */
export function seedsUpTo(count: number): readonly number[] {
  if (only !== undefined) return [only];
  const all = Array.from({ length: count }, (_, index) => index + 1);
  return isWhole ? all : all.filter((seed) => seed % PARTS === part);
}

export interface Cases {
  readonly seed: number;
  readonly count: number;
  /** True if there are enough cases to expect some of each kind. */
  readonly isWhole: boolean;
}

/** For a test that draws its cases one after the other from one seed: the seed, and how many to draw. */
export function casesOf(seed: number, count: number): Cases {
  if (isWhole) return { seed: only ?? seed, count, isWhole };
  return { seed: only ?? seed + 1 + part, count: Math.ceil(count / PARTS), isWhole };
}

/** The items to try, of a list of similar ones. */
export function itemsOf<Item>(all: readonly Item[]): readonly Item[] {
  const seeds = new Set(seedsUpTo(all.length));
  return all.filter((_, index) => seeds.has(index + 1));
}

/** A new seed at each run. */
export function newSeed(): number {
  return only ?? Math.floor(Math.random() * 2 ** 32);
}
