import type { Database } from './database.ts';

/**
 * The same database; each statement and each transaction takes a permit. `snapshot` and `connect` take none, because they
 * use connections outside the pool.
 */
export function withPermits(database: Database, acquire: () => Disposable | Promise<Disposable>): Database {
  const run = async <T>(permit: Disposable, work: () => Promise<T>): Promise<T> => {
    using _ = permit;
    return await work();
  };
  const underPermit = <T>(work: () => Promise<T>): Promise<T> => {
    const permit = acquire();
    return permit instanceof Promise ? permit.then((given) => run(given, work)) : run(permit, work);
  };
  return {
    many: (...call) => underPermit(() => database.many(...call)),
    one: (...call) => underPermit(() => database.one(...call)),
    run: (...call) => underPermit(() => database.run(...call)),
    transaction: (work, timeoutMs) => underPermit(() => database.transaction(work, timeoutMs)),
    snapshot: () => database.snapshot(),
    connect: () => database.connect(),
    usage: () => database.usage(),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
