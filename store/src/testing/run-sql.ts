import { createHash } from 'node:crypto';
import { type ParameterValue, type Queryable, type Sql, statement } from '../postgres/index.ts';
import type { SqlPart } from '../postgres/sql.ts';

/**
 * A test's own query: `` runSql<Row>(database)`SELECT ... WHERE id = ${id}` `` returns its rows, with members in
 * camelCase. Values are bound as parameters; `rawSql` is included as text.
 */
export function runSql<Row = Record<string, unknown>>(database: Queryable) {
  return (
    strings: TemplateStringsArray,
    ...values: readonly (ParameterValue | Sql<never>)[]
  ): Promise<Row[]> => {
    const parameters: Record<string, ParameterValue> = {};
    const parts = strings.flatMap((text, index): readonly SqlPart[] => {
      if (index === values.length) return [text];
      const value = values[index] as ParameterValue | Sql<never>;
      if (isSql(value)) return [text, ...value.parts];
      const name = `value${index + 1}`;
      parameters[name] = value;
      return [text, { name }];
    });
    const texts = parts.map((part) => (typeof part === 'string' ? part : `\${${part.name}}`));
    const digest = createHash('sha256').update(texts.join('')).digest('hex');
    return database.many(
      statement<Record<string, ParameterValue>, Row>(`test-${digest.slice(0, 32)}`, { parts }),
      parameters,
    );
  };
}

function isSql(value: ParameterValue | Sql<never>): value is Sql<never> {
  return typeof value === 'object' && value !== null && 'parts' in value;
}
