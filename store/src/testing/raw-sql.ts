import type { Sql } from '../postgres/index.ts';

/** Text of a test's own making, such as the name of a column, inside an `sql` template. */
export function rawSql(text: string): Sql<never> {
  return { parts: [text] };
}
