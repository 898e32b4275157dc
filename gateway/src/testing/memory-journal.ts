import type { FinishedRequest } from '../journal/finished-request.ts';
import type { Journal } from '../journal/journal.ts';
import { within } from '../journal/testing/wait-until.ts';

const LIMIT_MS = 30_000;

/** A journal that keeps what it is given, in memory. */
export interface MemoryJournal extends Journal {
  readonly records: FinishedRequest[];
  hasRoom: boolean;
  /** A step that an append waits for before it counts; replaced by tests that hold it back or make it fail. */
  before: (request: FinishedRequest) => Promise<void>;
  /** Resolves with the record of this request. Throws when there is none within 30 seconds. */
  recordOf(requestId: string): Promise<FinishedRequest>;
  /** Resolves once there are this many records. Throws when there are fewer after 30 seconds. */
  count(n: number): Promise<void>;
}

export function createMemoryJournal(): MemoryJournal {
  const records: FinishedRequest[] = [];
  const waiting = new Set<() => void>();
  const until = (what: string, isReached: () => boolean) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = () => {
      if (!isReached()) return;
      waiting.delete(check);
      resolve();
    };
    waiting.add(check);
    check();
    return within(what, LIMIT_MS, promise);
  };
  return {
    records,
    hasRoom: true,
    before: async () => {},
    async append(request) {
      await this.before(request);
      records.push(request);
      for (const check of [...waiting]) check();
    },
    async recordOf(requestId) {
      const find = () => records.find((record) => record.requestId === requestId);
      await until(`the record of request ${requestId}`, () => find() !== undefined);
      const record = find();
      if (!record) throw new Error('unreachable');
      return record;
    },
    count: (n) => until(`${n} records`, () => records.length >= n),
  };
}
