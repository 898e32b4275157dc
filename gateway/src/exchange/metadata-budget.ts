import { fitMetadata, type MetadataHeaders, readMetadata, type StoredMetadata } from './metadata.ts';
import { OwnerMinutes } from './owner-minutes.ts';

// Labels are stored as they come, twice, and a request that carries them may cost next to nothing. So their bytes are bounded.

/** The metadata of one request. */
export const MAX_BYTES = 4 * 1024;
/** The metadata of all requests of an organisation in a minute: a thousand requests of the largest, or 20,000 ordinary ones. */
export const MINUTE_BYTES = 4 * 1024 * 1024;
/** The part of a request's metadata that is stored in any case. It is no more than the rest of its row. */
export const ALWAYS_BYTES = 256;

/** Reads the labels of requests, as far as their organisation may have them stored in its minute. */
export class MetadataBudget {
  readonly #mapped: MetadataHeaders;
  readonly #minutes: OwnerMinutes<{ bytes: number }>;

  /** `monotonicMs` is a clock that never goes back. */
  constructor(mapped: MetadataHeaders, monotonicMs: () => number) {
    this.#mapped = mapped;
    this.#minutes = new OwnerMinutes(() => ({ bytes: 0 }), monotonicMs);
  }

  /** The labels of a request, by its raw headers. */
  read(rawHeaders: readonly string[]): ReadonlyMap<string, string> {
    return readMetadata(rawHeaders, this.#mapped);
  }

  /** The metadata that is stored of one more request, at most so many bytes. */
  store(owner: string, labels: ReadonlyMap<string, string>, maxBytes = MAX_BYTES): StoredMetadata {
    if (labels.size === 0) return { labels, cut: [], bytes: 0 };
    const minute = this.#minutes.of(owner);
    const left = Math.max(MINUTE_BYTES - minute.bytes, ALWAYS_BYTES);
    const stored = fitMetadata(labels, Math.min(maxBytes, left));
    minute.bytes += stored.bytes;
    return stored;
  }
}
