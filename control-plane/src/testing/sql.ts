import { createHash } from 'node:crypto';
import { type Queryable, statement } from '@gatehouse/store';

/** Runs one statement of a test's own, and returns its rows. */
export function sql<Row = Record<string, unknown>>(
  database: Queryable,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const name = `test-${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
  return database.many(statement<Row>(name, text), values);
}

/** Every row of every table as PostgreSQL writes it (`bytea` as hex): what somebody with a backup can read. */
export async function dumpTables(database: Queryable): Promise<string> {
  const tables = await sql<{ name: string }>(
    database,
    // The rows of a partition are those of its table.
    `SELECT format('%I', relname) AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
     ORDER BY relname`,
  );
  const dumps = await Promise.all(
    tables.map(({ name }) => sql<{ row: string }>(database, `SELECT t::text AS row FROM ${name} t`)),
  );
  return dumps.flatMap((rows) => rows.map(({ row }) => row)).join('\n');
}
