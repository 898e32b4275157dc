import { createHash } from 'node:crypto';

/** Random choices, the same for the same seed. */
export interface Seeded {
  /** From 0 up to 1. */
  random(): number;
  /** A whole number from 0 up to the limit. */
  below(limit: number): number;
  pick<T>(from: readonly T[]): T;
  maybe<T>(chance: number, value: () => T): T | undefined;
}

/** Derived from digests of the seed and a counter. */
export function seeded(seed: number): Seeded {
  let count = 0;
  const random = () => {
    count += 1;
    return createHash('sha256').update(`${seed} ${count}`).digest().readUInt32BE() / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(random() * limit);
  return {
    random,
    below,
    pick: <T>(from: readonly T[]): T => from[below(from.length)] as T,
    maybe: (chance, value) => (random() < chance ? value() : undefined),
  };
}
