import type { MasterKey } from './master-key.ts';

/** The master keys that a process has: one, and the next one too while a rotation is under way. */
export interface KeyRing {
  /** The key with this id, or undefined. Looks once more at where keys come from when it is not at hand. */
  find(id: string): Promise<MasterKey | undefined>;
}

// A record under a key that nobody has may be asked for a thousand times a second.
const LOOK_AGAIN_MS = 1_000;

export interface KeyRingOptions {
  /** What the process started with. */
  readonly keys: readonly MasterKey[];
  /** Reads the keys again from where they come from; must not throw what is not to be seen. */
  readonly reload: () => Promise<readonly MasterKey[]>;
  /** Told why reading them again failed. */
  readonly onError: (error: unknown) => void;
  /** Milliseconds of a clock that only goes forward. */
  readonly monotonicMs: () => number;
}

/**
 * A ring that learns a new key by itself: keys come from files or commands too, and a rotation puts the next one there
 * before anything is under it. A key that was known is never forgotten.
 */
export function createKeyRing({ keys, reload, onError, monotonicMs }: KeyRingOptions): KeyRing {
  const known = new Map(keys.map((key) => [key.id, key]));
  let looking: Promise<void> | undefined;
  let lookedAtMs = Number.NEGATIVE_INFINITY;

  const look = async () => {
    try {
      for (const key of await reload()) known.set(key.id, key);
    } catch (error) {
      onError(error);
    } finally {
      lookedAtMs = monotonicMs();
      looking = undefined;
    }
  };

  return {
    async find(id) {
      const key = known.get(id);
      if (key) return key;
      if (!looking && monotonicMs() - lookedAtMs < LOOK_AGAIN_MS) return undefined;
      looking ??= look();
      await looking;
      return known.get(id);
    },
  };
}

/** A ring of these keys and no others. */
export function fixedKeyRing(keys: readonly MasterKey[]): KeyRing {
  return { find: async (id) => keys.find((key) => key.id === id) };
}
