import { sqlString } from '@gatehouse/store/clickhouse-sql';

type Value = string | number | bigint | boolean;

export interface ConstantColumn<Row> {
  /** As the engine names it. */
  readonly type: 'UInt8' | 'UInt32' | 'Int64' | 'UInt64' | 'Float64' | 'LowCardinality(String)' | 'UUID';
  readonly value: (row: Row, place: number) => Value;
}

/**
 * A table of these rows, to be joined with. Its rows stand in one text: as arrays the engine would carry them along in
 * the name of every expression that they are in, which takes it longer than making a million rows.
 */
export function constantTable<Row>(
  rows: readonly Row[],
  columns: Readonly<Record<string, ConstantColumn<Row>>>,
): string {
  const structure = Object.entries(columns).map(([name, { type }]) => `${name} ${type}`);
  const values = Object.values(columns);
  const lines = rows.map((row, place) => values.map(({ value }) => cell(value(row, place))).join('\t'));
  return `format(TSV, ${sqlString(structure.join(', '))}, ${sqlString(lines.join('\n'))})`;
}

function cell(value: Value): string {
  if (typeof value !== 'string') return String(typeof value === 'boolean' ? Number(value) : value);
  return value.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n');
}
