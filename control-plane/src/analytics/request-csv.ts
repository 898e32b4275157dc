import { decimalFromMicroPkr, timestampWithZ } from '@gatehouse/contract';
import type { Names } from './rules.ts';
import type { RequestRow } from './telemetry.ts';

// The request log as CSV by RFC 4180. The columns are those of the JSON form, made flat.

type Cell = (row: RequestRow, names: Names) => string;

const COLUMNS: Readonly<Record<string, Cell>> = {
  req_id: (row) => text(row.request_id),
  timestamp: (row) => timestampWithZ(BigInt(row.micros)),
  model: (row) => text(row.model),
  status: (row) => String(row.status),
  stream: (row) => String(row.stream),
  key_id: (row) => row.key_id ?? '',
  key_name: (row, { keys }) => name(row.key_id, keys),
  project_id: (row) => row.project_id ?? '',
  project_name: (row, { projects }) => name(row.project_id, projects),
  total_ms: (row) => decimal(row.total_ms),
  ttft_ms: (row) => decimal(row.ttft_ms),
  tpot_ms: (row) => decimal(row.tpot_ms),
  pre_dispatch_ms: (row) => decimal(row.pre_dispatch_ms),
  prompt_tokens: (row) => row.prompt_tokens_text ?? '',
  tokens_generated: (row) => row.tokens_generated_text,
  cache_creation_input_tokens: (row) => row.cache_creation_input_tokens_text ?? '',
  cache_read_input_tokens: (row) => row.cache_read_input_tokens_text ?? '',
  total_tokens: (row) => row.total_tokens_text,
  tokens_estimated: (row) => String(row.tokens_estimated),
  cost_pkr: (row) => decimalFromMicroPkr(BigInt(row.cost)),
  is_byok: (row) => String(row.is_byok),
  termination_reason: (row) => row.termination_reason,
  upstream_error: (row) => text(row.upstream_error),
  upstream_model: (row) => text(row.upstream_model),
  user_agent: (row) => text(row.user_agent),
  metadata: (row) => quoted(JSON.stringify(row.metadata)),
  request_count: (row) => String(row.requests_of_row),
};

const CELLS = Object.values(COLUMNS);

/** The names of the columns, as the first line. */
export const CSV_HEADER = csvLine(Object.keys(COLUMNS));

/** A row of the request log as a line. */
export function requestCsvLine(row: RequestRow, names: Names): string {
  return csvLine(CELLS.map((cell) => cell(row, names)));
}

function csvLine(cells: readonly string[]): string {
  return `${cells.join(',')}\r\n`;
}

function name(id: string | null, names: ReadonlyMap<string, string>): string {
  return text(id === null ? null : (names.get(id) ?? null));
}

/**
 * A spreadsheet would compute a text that begins like a formula, and this one comes from whoever sent the request: an
 * apostrophe before it says that it is text. The escaped characters are the full-width forms of the first four. Guarded
 * by the tests 'lets no spreadsheet take a text for a formula' and 'leaves every other text as it is'.
 */
function text(value: string | null): string {
  if (value === null) return '';
  return quoted(/^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/.test(value) ? `'${value}` : value);
}

// What is empty is quoted, what is null is not.
function quoted(value: string): string {
  return value === '' || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** Writes a number with the digits that JavaScript gives it, but never with an exponent. */
export function decimal(value: number | null): string {
  if (value === null) return '';
  const [, sign = '', whole = '', fraction = '', exponent] =
    /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(String(value)) ?? [];
  if (exponent === undefined) return String(value);
  const point = whole.length + Number(exponent);
  const digits = (whole + fraction).padStart(whole.length + fraction.length + Math.max(1 - point, 0), '0');
  const at = Math.max(point, 1);
  const padded = digits.padEnd(at, '0');
  return `${sign}${padded.slice(0, at)}${at < padded.length ? `.${padded.slice(at)}` : ''}`;
}
