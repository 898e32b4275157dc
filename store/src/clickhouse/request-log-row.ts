/** The rows of `request_log`, as the gateway writes them, and how each field becomes a column. */

/** One request, or several alike that were refused. Money is in micro-PKR, durations in milliseconds, both as measured; null means unknown, never 0. */
export type RequestLogRow = {
  readonly organizationId: string;
  /** Start of the request, microseconds since the epoch; before the year 2100. */
  readonly timestampMicros: bigint;
  readonly requestId: string;
  readonly keyId: string | null;
  readonly projectId: string | null;
  readonly model: string;
  readonly status: number;
  readonly stream: boolean;
  readonly totalMs: number;
  readonly ttftMs: number | null;
  readonly tpotMs: number | null;
  readonly preDispatchMs: number;
  readonly promptTokens: number | null;
  readonly tokensGenerated: number;
  readonly cacheCreationInputTokens: number | null;
  readonly cacheReadInputTokens: number | null;
  readonly totalTokens: number;
  readonly tokensEstimated: boolean;
  readonly costMicroPkr: bigint;
  readonly isByok: boolean;
  readonly terminationReason: string;
  /** Our own refusal code, for example `rate_limit_exceeded`, or '' for a request that was served. */
  readonly refusal: string;
  readonly upstreamError: string | null;
  readonly upstreamModel: string | null;
  readonly userAgent: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** How many requests the row stands for; one unless given. */
  readonly requestCount?: number;
};

type Cell = string | number | boolean | null | Record<string, string>;
type Column = readonly [name: string, cell: (row: RequestLogRow) => Cell];

/**
 * Name and value side by side, and rows are sent as positions under these names: the store skips a misspelt field of
 * a JSON object without a word, while a misspelt column here is an error.
 */
const COLUMNS: readonly [Column, ...Column[]] = [
  ['organization_id', (row) => uuid(row.organizationId)],
  ['timestamp', (row) => dateTime(row.timestampMicros)],
  ['request_id', (row) => text(row.requestId)],
  ['key_id', (row) => orNull(uuid, row.keyId)],
  ['project_id', (row) => orNull(uuid, row.projectId)],
  ['model', (row) => text(row.model)],
  ['status', (row) => integer(row.status, 65_535)],
  ['stream', (row) => row.stream],
  ['total_ms', (row) => duration(row.totalMs)],
  ['ttft_ms', (row) => orNull(duration, row.ttftMs)],
  ['tpot_ms', (row) => orNull(duration, row.tpotMs)],
  ['pre_dispatch_ms', (row) => duration(row.preDispatchMs)],
  ['prompt_tokens', (row) => orNull(count, row.promptTokens)],
  ['tokens_generated', (row) => count(row.tokensGenerated)],
  ['cache_creation_input_tokens', (row) => orNull(count, row.cacheCreationInputTokens)],
  ['cache_read_input_tokens', (row) => orNull(count, row.cacheReadInputTokens)],
  ['total_tokens', (row) => count(row.totalTokens)],
  ['tokens_estimated', (row) => row.tokensEstimated],
  ['cost_micro_pkr', (row) => money(row.costMicroPkr)],
  ['is_byok', (row) => (row.isByok ? 1 : 0)],
  ['termination_reason', (row) => text(row.terminationReason)],
  ['refusal', (row) => text(row.refusal)],
  ['upstream_error', (row) => orNull(text, row.upstreamError)],
  ['upstream_model', (row) => orNull(text, row.upstreamModel)],
  ['user_agent', (row) => text(row.userAgent)],
  ['metadata', (row) => texts(row.metadata)],
  ['request_count', (row) => atLeastOne(integer(row.requestCount ?? 1, 4_294_967_295))],
];

const [[firstColumn], ...otherColumns] = COLUMNS;
export const REQUEST_LOG_COLUMNS: [string, ...string[]] = [
  firstColumn,
  ...otherColumns.map(([name]) => name),
];

/**
 * The row as cells in the order of REQUEST_LOG_COLUMNS. Numbers are checked, for the store wraps what does not fit
 * into a column; texts are mended instead (U+0000 and lone surrogates become U+FFFD), for they come from callers and
 * must not hold up the rows around them.
 *
 * @throws RangeError naming the column and the value
 */
export function toCells(row: RequestLogRow): Cell[] {
  return COLUMNS.map(([name, cell]) => {
    try {
      return cell(row);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new RangeError(`request_log.${name} of request ${row.requestId}: ${reason}`, { cause: error });
    }
  });
}

function orNull<Value, Result>(convert: (value: Value) => Result, value: Value | null): Result | null {
  return value === null ? null : convert(value);
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function uuid(value: string): string {
  if (!UUID.test(value)) throw new RangeError(`${JSON.stringify(value)} is no uuid`);
  return value;
}

function text(value: string): string {
  return value.toWellFormed().replaceAll('\0', '\u{fffd}');
}

/** On a null prototype, where a key such as `__proto__` is a key like any other. */
function texts(values: Readonly<Record<string, string>>): Record<string, string> {
  const result: Record<string, string> = Object.create(null);
  for (const [key, value] of Object.entries(values)) result[text(key)] = text(value);
  return result;
}

function integer(value: number, most: number): number {
  if (!Number.isSafeInteger(value) || value < 0 || value > most) {
    throw new RangeError(`${value} is no integer from 0 to ${most}`);
  }
  return value;
}

function atLeastOne(value: number): number {
  if (value < 1) throw new RangeError(`${value} is no number of requests`);
  return value;
}

function count(value: number): number {
  return integer(value, Number.MAX_SAFE_INTEGER);
}

function duration(value: number): number {
  if (!Number.isFinite(value) || value < 0) throw new RangeError(`${value} is no duration`);
  return value;
}

const INT64_MAX = 2n ** 63n - 1n;

/** As text, which JSON does not round. */
function money(value: bigint): string {
  if (value > INT64_MAX || value < -INT64_MAX) throw new RangeError(`${value} does not fit into 64 bits`);
  return value.toString();
}

const YEAR_2100_MICROS = 4_102_444_800_000_000n;

/** `2026-11-20 10:15:30.123456`. The bound keeps the rollup's Date column, which ends in 2149, from wrapping. */
function dateTime(micros: bigint): string {
  if (micros < 0n || micros >= YEAR_2100_MICROS)
    throw new RangeError(`${micros} is no time before the year 2100`);
  const toSeconds = new Date(Number(micros / 1_000_000n) * 1000).toISOString().slice(0, 19).replace('T', ' ');
  return `${toSeconds}.${(micros % 1_000_000n).toString().padStart(6, '0')}`;
}
