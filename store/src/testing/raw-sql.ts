import type { Sql } from '../postgres/index.ts';

/** Unescaped text, such as a column name, for an `sql` template of a test. */
export function rawSql(text: string): Sql<never> {
  return { parts: [text] };
}
