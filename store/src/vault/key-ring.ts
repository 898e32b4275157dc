import type { MasterKey } from './master-key.ts';

/** The master keys of a process: the current one and, during a rotation, the next. */
export interface KeyRing {
  /** The key with this id, or undefined. An unknown id reloads the sources first, each id at most once a second. */
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
  // When each id was last missing from the sources. Ids come from the vault's records, so there are few.
  const missingAtMs = new Map<string, number>();

  const reloadKeys = async () => {
    try {
      for (const key of await reload()) known.set(key.id, key);
    } catch (error) {
      onError(error);
    } finally {
      reloading = undefined;
    }
  };

  return {
    async find(id) {
      if (known.has(id)) return known.get(id);
      // This one may have read the sources before they had the key.
      await reloading;
      const isRecent = monotonicMs() - (missingAtMs.get(id) ?? Number.NEGATIVE_INFINITY) < RELOAD_INTERVAL_MS;
      if (known.has(id) || isRecent) return known.get(id);
      reloading ??= reloadKeys();
      await reloading;
      if (known.has(id)) missingAtMs.delete(id);
      else missingAtMs.set(id, monotonicMs());
      return known.get(id);
    },
  };
}

/** A ring of these keys and no others. */
export function fixedKeyRing(keys: readonly MasterKey[]): KeyRing {
  return { find: async (id) => keys.find((key) => key.id === id) };
}
