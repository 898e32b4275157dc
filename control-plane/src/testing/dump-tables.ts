import type { Queryable } from '@gatehouse/store';
import { rawSql, runSql } from '@gatehouse/store/testing';

/** Every row of every table as PostgreSQL prints it (`bytea` as hex): everything that a backup reveals. */
export async function dumpTables(database: Queryable): Promise<string> {
  // The rows of a partition are listed with its table.
  const tables = await runSql<{ name: string }>(database)`
    SELECT format('%I', relname) AS name FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
    ORDER BY relname`;
  const dumps = await Promise.all(
    tables.map(({ name }) => runSql<{ row: string }>(database)`SELECT t::text AS row FROM ${rawSql(name)} t`),
  );
  return dumps.flatMap((rows) => rows.map(({ row }) => row)).join('\n');
}
