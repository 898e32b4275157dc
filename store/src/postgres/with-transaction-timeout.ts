import type { Database } from './database.ts';

/** The same database; after `timeoutMs` a transaction sends no further statement, and fails with DatabaseUnavailable. */
export function withTransactionTimeout(database: Database, timeoutMs: number): Database {
  return { ...database, transaction: (work) => database.transaction(work, timeoutMs) };
}
