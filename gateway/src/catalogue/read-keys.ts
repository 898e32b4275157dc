import { createFairBatcher, type Queued } from '@gatehouse/concurrency';
import type { TokenHash } from '@gatehouse/contract';
import { DatabaseUnavailable, type Queryable } from '@gatehouse/store';
import type { PreviousUse } from './previous-use.ts';
import { listKeys, type ReadKey } from './queries.ts';

// Keys are looked up together, fairly by key: whose request it is, is not known before.
const BATCHES = {
  mostPerBatch: 128,
  batches: 3,
  batchesAlone: 1,
  spacingMs: 5,
  queuePerTenant: 1_000,
  queueTotal: 20_000,
};

export interface KeyReads {
  /** The key with this hash, unless there is none or it was revoked. */
  read(hash: TokenHash): Queued<ReadKey | undefined>;
  /** How many wait for their statement to be sent. */
  waiting(): number;
}

/**
 * `timeoutMs` is how long a request waits for its statement to be sent. A key that was given a higher rate than the ceiling has
 * the ceiling.
 */
export function createKeyReads(
  database: Queryable,
  previousUse: Pick<PreviousUse, 'note'>,
  timeoutMs: number,
  rateLimitCeilingRpm = Number.POSITIVE_INFINITY,
): KeyReads {
  const batcher = createFairBatcher<TokenHash, ReadKey | undefined>({
    ...BATCHES,
    timeoutMs,
    async send(hashes) {
      const keys = new Map<string, ReadKey>();
      const rows = await listKeys(database, hashes);
      const previous = rows.filter(({ read }) => read.isPrevious);
      if (previous.length > 0) previousUse.note(previous.map(({ secretHash }) => secretHash));
      for (const { secretHash, read } of rows) {
        const isWithin = read.key.rateLimitRpm <= rateLimitCeilingRpm;
        const key = isWithin ? read.key : { ...read.key, rateLimitRpm: rateLimitCeilingRpm };
        keys.set(secretHash.toString('latin1'), isWithin ? read : { ...read, key });
      }
      return hashes.map((hash) => keys.get(hash.toString('latin1')));
    },
    isUnavailable: (error) => error instanceof DatabaseUnavailable,
  });
  return {
    read: (hash) => batcher.submit(hash.toString('latin1'), hash),
    waiting: () => batcher.waiting(),
  };
}
