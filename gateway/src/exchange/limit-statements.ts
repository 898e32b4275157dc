import { withTimeout } from '@gatehouse/concurrency';
import { type Database, DatabaseUnavailable, type Queryable } from '@gatehouse/store';

/**
 * The same statements, each with a time limit. The driver waits longer for a server that accepts and then does not
 * answer; a caller of the gateway needs its 503 sooner. The statement is not stopped: one that changes something may
 * still take effect, so its caller must handle both.
 */
export function limitStatements(database: Database, ms: number): Queryable {
  const limited = <T>(answer: Promise<T>): Promise<T> =>
    withTimeout(answer, ms, () => new DatabaseUnavailable(`no answer within ${ms} ms`));
  return {
    many: (...call) => limited(database.many(...call)),
    one: (...call) => limited(database.one(...call)),
    run: (...call) => limited(database.run(...call)),
  };
}
