import { createHash } from 'node:crypto';
import { type Queryable, statement } from '@gatehouse/store';

/** Runs a test's own statement and returns its rows, with columns named as in the text. */
export function sql<Row = Record<string, unknown>>(
  database: Queryable,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const name = `test-${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
  return database.many(statement<Row>(name, text), values);
}

/** Every row of every table as PostgreSQL prints it (`bytea` as hex): everything that a backup reveals. */
export async function dumpTables(database: Queryable): Promise<string> {
  const tables = await sql<{ name: string }>(
    database,
    // The rows of a partition are listed with its table.
    `SELECT format('%I', relname) AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
     ORDER BY relname`,
  );
  const dumps = await Promise.all(
    tables.map(({ name }) => sql<{ row: string }>(database, `SELECT t::text AS row FROM ${name} t`)),
  );
  return dumps.flatMap((rows) => rows.map(({ row }) => row)).join('\n');
}
