import { type Database, DatabaseUnavailable, type Queryable } from '@gatehouse/store';

/**
 * The same statements, each given up after `ms`. The driver waits longer for a server that accepts and then says
 * nothing; a caller of the gateway would rather have its 503 now. The statement itself is not stopped: one that
 * changes something may still take effect, so whoever sends such a one must be prepared for both.
 */
export function withPatience(database: Database, ms: number): Queryable {
  const patiently = async <T>(answer: Promise<T>): Promise<T> => {
    const { promise: tooLong, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new DatabaseUnavailable(`no answer within ${ms} ms`)), ms);
    try {
      return await Promise.race([answer, tooLong]);
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    many: (...call) => patiently(database.many(...call)),
    one: (...call) => patiently(database.one(...call)),
    run: (...call) => patiently(database.run(...call)),
  };
}
