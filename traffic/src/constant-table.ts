import { sqlString } from '@gatehouse/store/clickhouse-sql';

type Value = string | number | bigint | boolean;

export interface ConstantColumn<Row> {
  /** The engine's type name. */
  readonly type: 'UInt8' | 'UInt32' | 'Int64' | 'UInt64' | 'Float64' | 'LowCardinality(String)' | 'UUID';
  readonly value: (row: Row, index: number) => Value;
}

/**
 * A table expression of these rows, for a join. The rows are one string: the engine copies array literals into the name
 * of every expression that uses them, which takes longer than making a million rows.
 */
export function constantTable<Row>(
  rows: readonly Row[],
  columns: Readonly<Record<string, ConstantColumn<Row>>>,
): string {
  const structure = Object.entries(columns).map(([name, { type }]) => `${name} ${type}`);
  const values = Object.values(columns);
  const lines = rows.map((row, index) => values.map(({ value }) => cell(value(row, index))).join('\t'));
  return `format(TSV, ${sqlString(structure.join(', '))}, ${sqlString(lines.join('\n'))})`;
}

function cell(value: Value): string {
  if (typeof value !== 'string') return String(typeof value === 'boolean' ? Number(value) : value);
  return value.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n');
}
