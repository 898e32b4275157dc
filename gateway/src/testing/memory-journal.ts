import type { FinishedRequest } from '../journal/finished-request.ts';
import type { Journal } from '../journal/journal.ts';

/** A journal that keeps what it is given, in memory. */
export interface MemoryJournal extends Journal {
  readonly records: FinishedRequest[];
  hasRoom: boolean;
  /** What an append waits for before it counts; replaced by tests that hold it back or make it fail. */
  before: (request: FinishedRequest) => Promise<void>;
  /** Resolves with the record of this request, as soon as there is one. */
  recordOf(requestId: string): Promise<FinishedRequest>;
  /** Resolves once there are this many records. */
  count(n: number): Promise<void>;
}

export function createMemoryJournal(): MemoryJournal {
  const records: FinishedRequest[] = [];
  const waiting = new Set<() => void>();
  const until = (isReached: () => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!isReached()) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  return {
    records,
    hasRoom: true,
    before: async () => {},
    async append(request) {
      await this.before(request);
      records.push(request);
      for (const look of [...waiting]) look();
    },
    async recordOf(requestId) {
      const find = () => records.find((record) => record.requestId === requestId);
      await until(() => find() !== undefined);
      const record = find();
      if (!record) throw new Error('unreachable');
      return record;
    },
    count: (n) => until(() => records.length >= n),
  };
}
