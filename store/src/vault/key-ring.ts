import type { MasterKey } from './master-key.ts';

/** The master keys of a process: the current one and, during a rotation, the next. */
export interface KeyRing {
  /** The key with this id, or undefined. An unknown id reloads the sources first, at most once a second. */
  find(id: string): Promise<MasterKey | undefined>;
}

// Records under a missing key may be requested a thousand times a second.
const RELOAD_INTERVAL_MS = 1_000;

export interface KeyRingOptions {
  /** The keys at start-up. */
  readonly keys: readonly MasterKey[];
  /** Reads the sources of the keys again. Its errors are logged, so they must not contain a key. */
  readonly reload: () => Promise<readonly MasterKey[]>;
  /** Called with the error of a failed reload. */
  readonly onError: (error: unknown) => void;
  /** Milliseconds of a monotonic clock. */
  readonly monotonicMs: () => number;
}

/**
 * A ring that picks up new keys by itself: a rotation puts the next key into its source before it encrypts anything under
 * it. Known keys are never dropped.
 */
export function createKeyRing({ keys, reload, onError, monotonicMs }: KeyRingOptions): KeyRing {
  const known = new Map(keys.map((key) => [key.id, key]));
  let reloading: Promise<void> | undefined;
  let reloadedAtMs = Number.NEGATIVE_INFINITY;

  const reloadKeys = async () => {
    try {
      for (const key of await reload()) known.set(key.id, key);
    } catch (error) {
      onError(error);
    } finally {
      reloadedAtMs = monotonicMs();
      reloading = undefined;
    }
  };

  return {
    async find(id) {
      const key = known.get(id);
      if (key) return key;
      if (!reloading && monotonicMs() - reloadedAtMs < RELOAD_INTERVAL_MS) return undefined;
      reloading ??= reloadKeys();
      await reloading;
      return known.get(id);
    },
  };
}

/** A ring of these keys and no others. */
export function fixedKeyRing(keys: readonly MasterKey[]): KeyRing {
  return { find: async (id) => keys.find((key) => key.id === id) };
}
