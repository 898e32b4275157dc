/** Rows with every way to end, and a reference implementation of the properties that requests are grouped and filtered by. */
import { analytics, durationFromText } from '@gatehouse/contract';
import type { RequestLogRow } from '@gatehouse/store';
import { NOW, SECOND } from './analytics-api.ts';
import { type Owners, randomRows, requestsOf, rowsOfPart } from './reference-figures.ts';
import type { Seeded } from './seeded.ts';

export const ENVIRONMENTS = ['production', 'testing', 'development'];
const TEAMS = ['red', 'Red', 'blue', "o'brien", '\u0416', 'a\\b', '00000000-0000-0000-0000-000000000000'];
export const GROUPINGS = [...analytics.BREAKDOWN_GROUPINGS, 'metadata:team', 'metadata:none'];

export type Query = Readonly<Record<string, string>>;

/** Random rows of which some failed, in every way, and some have metadata. */
export function randomOutcomes(choices: Seeded, owners: Owners, count: number): RequestLogRow[] {
  const { pick, random } = choices;
  return randomRows(choices, owners, NOW, count).map((row) => ({
    ...row,
    status: pick([200, 200, 400, 429, 499, 500, 502]),
    refusal: pick(['', '', '', 'rate_limit_exceeded', 'upstream_timeout']),
    terminationReason: pick([
      'success',
      'success',
      'proxy_guillotine',
      'client_disconnect',
      'upstream_stream_aborted',
    ] as const),
    upstreamError: pick([null, null, 'it said no']),
    metadata: new Map(random() < 0.6 ? [['team', pick(TEAMS)]] : []),
    // Rows of several requests have no first token.
    ttftMs: (row.requestCount ?? 1) > 1 ? null : row.ttftMs,
  }));
}

/** The rows of a query's window that pass its filters. */
export function rowsOf(
  rows: readonly RequestLogRow[],
  { time_range = '24h', from, to, project_id, key_id, model_alias, ...filters }: Query,
): RequestLogRow[] {
  const micros = (text: string) => BigInt(Date.parse(text)) * 1000n;
  const seconds = durationFromText(time_range)?.seconds ?? 0;
  return rowsOfPart(rows, {
    fromMicros: from === undefined ? NOW - BigInt(seconds) * SECOND : micros(from),
    toMicros: to === undefined ? NOW : micros(to) - 1n,
    projectId: project_id,
    keyId: key_id,
    model: model_alias || undefined,
  }).filter((row) => passes(row, filters));
}

function passes(row: RequestLogRow, filters: Query): boolean {
  const { status_category, termination_reason, error_code, min_cost_pkr, search } = filters;
  const code = errorCodeOf(row);
  const texts = [row.requestId, ...row.metadata.keys(), ...row.metadata.values()];
  return (
    (!status_category || String(row.status)[0] === status_category[0]) &&
    (!termination_reason || row.terminationReason === termination_reason) &&
    (!error_code || (error_code === analytics.ANY_ERROR ? code !== null : code === error_code)) &&
    (!min_cost_pkr || row.costMicroPkr >= BigInt(Math.ceil(Number(min_cost_pkr) * 1e6))) &&
    (!search || texts.some((text) => text.toLowerCase().includes(search.toLowerCase())))
  );
}

export function errorCodeOf({
  refusal,
  terminationReason,
  status,
  upstreamError,
}: RequestLogRow): string | null {
  if (refusal) return refusal;
  if (terminationReason === 'proxy_guillotine') return 'upstream_timeout';
  if (terminationReason === 'upstream_stream_aborted') return terminationReason;
  if (terminationReason === 'client_disconnect') return null;
  if (status >= 400) return `upstream_${status}`;
  return upstreamError === null ? null : 'upstream_error';
}

/** The group of a row. The keys are those of ENVIRONMENTS, in their order, and so are the members who minted them. */
export function groupOf(
  row: RequestLogRow,
  group_by: string,
  keyIds: readonly string[],
  memberIds: readonly (string | null)[],
): string | null {
  const { keyId } = row;
  const groups: Record<string, string | null | undefined> = {
    status: String(row.status),
    error_code: errorCodeOf(row),
    model: row.model,
    key: keyId,
    project: row.projectId,
    environment: keyId === null ? null : ENVIRONMENTS[keyIds.indexOf(keyId)],
    member: keyId === null ? null : memberIds[keyIds.indexOf(keyId)],
    termination_reason: row.terminationReason,
    'metadata:team': row.metadata.get('team'),
  };
  return groups[group_by] || null;
}

/** The least value that at least this share of the weight is not above. */
export function quantile(values: readonly (readonly [value: number, weight: number])[], level: number) {
  const enough = Math.ceil(values.reduce((sum, [, weight]) => sum + weight, 0) * level);
  let seen = 0;
  for (const [value, weight] of values.toSorted(([a], [b]) => a - b)) {
    seen += weight;
    if (seen >= enough) return value;
  }
  return null;
}

/** The figures of rows; times in ms as p50 and p95 of the total and of the first token. */
export function figuresOf(part: readonly RequestLogRow[]) {
  const totals = part.map(({ totalMs, requestCount = 1 }) => [totalMs, requestCount] as const);
  const firsts = part.flatMap(({ ttftMs }) => (ttftMs === null ? [] : [[ttftMs, 1] as const]));
  const sum = (of: (row: RequestLogRow) => number) => part.reduce((total, row) => total + of(row), 0);
  return {
    requests: requestsOf(part),
    errors: requestsOf(part.filter((row) => errorCodeOf(row) !== null)),
    tokens: sum(({ totalTokens }) => totalTokens),
    costMicroPkr: sum(({ costMicroPkr }) => Number(costMicroPkr)),
    times: [totals, firsts].flatMap((values) => [quantile(values, 0.5), quantile(values, 0.95)]),
  };
}
