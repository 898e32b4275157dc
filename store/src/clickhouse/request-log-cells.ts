import { attemptsToJson } from './request-attempts.ts';
import {
  type RequestLogKind,
  type RequestLogKinds,
  type RequestLogRow,
  requestLogColumns,
} from './request-log-columns.ts';

export type Cell = string | number | boolean | null | Record<string, string>;

/**
 * How each kind of value becomes a cell. Numbers are checked, because the store wraps what does not fit into a column.
 * Texts are stored as they are: finishRequest of the gateway has made them storable.
 */
const CELLS: { readonly [K in RequestLogKind]: (value: RequestLogKinds[K]['written']) => Cell } = {
  uuid,
  requestId: text,
  reference: uuid,
  text,
  termination: text,
  labels,
  attempts: (value) => (value.length === 0 ? '' : attemptsToJson(value)),
  boolean: (value) => value,
  flag: (value) => (value ? 1 : 0),
  status: (value) => integer(value, 65_535),
  count: (value) => integer(value, Number.MAX_SAFE_INTEGER),
  requests: (value) => atLeastOne(integer(value, 4_294_967_295)),
  milliseconds,
  microPkr,
  instant,
};

// Rows are sent as positions under these names: the store ignores a misspelt field of a JSON object, while a misspelt
// column is an error.
export const REQUEST_LOG_COLUMN_NAMES = requestLogColumns.map(({ name }) => name) as [string, ...string[]];

const encoders = requestLogColumns.map(({ field, kind, isNullable = false, absent }) => ({
  field,
  isNullable,
  absent,
  encode: CELLS[kind] as (value: unknown) => Cell,
}));

/**
 * The row as cells in the order of REQUEST_LOG_COLUMN_NAMES.
 *
 * @throws RangeError naming the column and the value
 */
export function toCells(row: RequestLogRow): Cell[] {
  const cells: Cell[] = [];
  try {
    for (const { field, isNullable, absent, encode } of encoders) {
      const value = row[field];
      cells.push(value === null && isNullable ? null : encode(value === undefined ? absent : value));
    }
  } catch (error) {
    const column = REQUEST_LOG_COLUMN_NAMES[cells.length];
    const reason = error instanceof Error ? error.message : String(error);
    throw new RangeError(`request_log.${column} of request ${row.requestId}: ${reason}`, { cause: error });
  }
  return cells;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function uuid(value: string): string {
  if (!UUID.test(value)) throw new RangeError(`${JSON.stringify(value)} is not a UUID`);
  return value;
}

function text(value: string): string {
  if (typeof value !== 'string') throw new RangeError(`${JSON.stringify(value)} is not a text`);
  return value;
}

/** On a null prototype, where a name such as `__proto__` is a name like any other. */
function labels(values: ReadonlyMap<string, string>): Record<string, string> {
  const result: Record<string, string> = Object.create(null);
  for (const [name, value] of values) result[name] = value;
  return result;
}

function integer(value: number, most: number): number {
  if (!Number.isSafeInteger(value) || value < 0 || value > most) {
    throw new RangeError(`${value} is not an integer from 0 to ${most}`);
  }
  return value;
}

function atLeastOne(value: number): number {
  if (value < 1) throw new RangeError(`${value} is not a number of requests`);
  return value;
}

function milliseconds(value: number): number {
  if (!Number.isFinite(value) || value < 0) throw new RangeError(`${value} is not a duration`);
  return value;
}

const INT64_MAX = 2n ** 63n - 1n;

/** As text, which JSON does not round. */
function microPkr(value: bigint): string {
  if (value > INT64_MAX || value < -INT64_MAX) throw new RangeError(`${value} does not fit into 64 bits`);
  return value.toString();
}

const YEAR_2100_MICROS = 4_102_444_800_000_000n;

/** `2026-11-20 10:15:30.123456`. The bound keeps the rollup's Date column, which ends in 2149, from wrapping. */
function instant(micros: bigint): string {
  if (micros < 0n || micros >= YEAR_2100_MICROS)
    throw new RangeError(`${micros} is not a time before the year 2100`);
  const toSeconds = new Date(Number(micros / 1_000_000n) * 1000).toISOString().slice(0, 19).replace('T', ' ');
  return `${toSeconds}.${(micros % 1_000_000n).toString().padStart(6, '0')}`;
}
