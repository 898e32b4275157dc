/**
 * Random rows of the request log, and a reference implementation of their figures: one loop over all rows, sharing
 * nothing with the tested code but the row type.
 */
import { randomUUID } from 'node:crypto';
import type { analytics } from '@gatehouse/contract';
import type { RequestLogRow } from '@gatehouse/store';
import { requestRow } from './requests.ts';
import type { Seeded } from './seeded.ts';

/** The ids that random rows use, besides null and unknown ones. */
export interface Owners {
  readonly organizationId: string;
  readonly projectIds: readonly string[];
  readonly keyIds: readonly string[];
}

export const MODELS = ['a/one', 'A/one', 'b/two', '\u0416/"quoted"\n', 'unattributed', ''] as const;

const HOUR = 3_600_000_000n;

/**
 * Rows from years before `now` to shortly after it, many within days. Some are at the edge of an hour, some at the same
 * instant, some have unknown keys and projects, and every nullable or empty value occurs.
 */
export function randomRows({ below, pick, random }: Seeded, owners: Owners, now: bigint, count: number) {
  const keyIds = [null, randomUUID(), ...owners.keyIds];
  const projectIds = [null, randomUUID(), ...owners.projectIds];
  const days = [1, 3, 30, 90, 900];
  const instant = () => {
    const micros = now - BigInt(below(pick(days) * 86_400)) * 1_000_000n - BigInt(below(1_000_000));
    const hour = (micros / HOUR) * HOUR;
    return pick([micros, micros, hour, hour - 1n, hour + 1n, now, now + 1n, now + HOUR]);
  };
  const ms = (limit: number) => below(limit * 1000) / 1000;
  return Array.from({ length: count }, (_, index): RequestLogRow => {
    const stream = random() < 0.5;
    return requestRow({
      organizationId: owners.organizationId,
      requestId: `r${index}`,
      startedAtMicros: instant(),
      keyId: pick(keyIds),
      projectId: pick(projectIds),
      model: pick(MODELS),
      status: pick([200, 429, 502]),
      isStream: stream,
      totalMs: ms(60_000),
      ttftMs: stream && random() < 0.8 ? ms(900) : null,
      preDispatchMs: ms(20),
      tokensGenerated: pick([0, below(1000)]),
      totalTokens: pick([0, below(5000), 2 ** 40 + below(1000)]),
      costMicroPkr: BigInt(below(10_000_000)),
      requestCount: pick([1, 1, 1, 2 + below(5_000)]),
    });
  });
}

/** A selection of rows; both ends of the window are inclusive. */
export interface Part {
  readonly fromMicros: bigint;
  readonly toMicros: bigint;
  readonly projectId?: string | undefined;
  readonly keyId?: string | undefined;
  readonly model?: string | undefined;
}

export function rowsOfPart(rows: readonly RequestLogRow[], part: Part): RequestLogRow[] {
  return rows.filter(
    (row) =>
      row.startedAtMicros >= part.fromMicros &&
      row.startedAtMicros <= part.toMicros &&
      (part.projectId === undefined || row.projectId === part.projectId) &&
      (part.keyId === undefined || row.keyId === part.keyId) &&
      (part.model === undefined || row.model === part.model),
  );
}

const micros = (ms: number) => BigInt(Math.round(ms * 1000));
const total = (values: readonly bigint[]) => values.reduce((sum, value) => sum + value, 0n);
const meanMs = (values: readonly bigint[]) =>
  values.length === 0 ? null : Number(total(values)) / values.length / 1000;

/** The number of requests that the rows represent. */
export function requestsOf(rows: readonly RequestLogRow[]): number {
  return rows.reduce((sum, { requestCount = 1 }) => sum + requestCount, 0);
}

/** One figure of the rows; null when there is none. */
export function referenceFigure(rows: readonly RequestLogRow[], metric: analytics.Metric): number | null {
  if (rows.length === 0) return null;
  if (metric === 'volume') return requestsOf(rows);
  if (metric === 'token_usage') return rows.reduce((sum, row) => sum + row.totalTokens, 0);
  if (metric === 'latency') {
    const spent = total(rows.map((row) => micros(row.totalMs) * BigInt(row.requestCount ?? 1)));
    return Number(spent) / requestsOf(rows) / 1000;
  }
  if (metric === 'ttft')
    return meanMs(rows.flatMap((row) => (row.ttftMs === null ? [] : micros(row.ttftMs))));
  const timed = rows.flatMap((row) => {
    const begins = row.isStream ? row.ttftMs : row.preDispatchMs;
    return row.tokensGenerated > 0 && begins !== null
      ? [{ tokens: BigInt(row.tokensGenerated), took: micros(row.totalMs) - micros(begins) }]
      : [];
  });
  const took = total(timed.map((row) => row.took));
  return took > 0n ? (Number(total(timed.map((row) => row.tokens))) / Number(took)) * 1_000_000 : null;
}

export interface ReferencePoint {
  readonly bucket: string;
  readonly group: string;
  readonly value: number;
}

/** The points of a series over the rows, ordered by bucket, then by the bytes of the group. */
export function referenceSeries(
  rows: readonly RequestLogRow[],
  metric: analytics.Metric,
  grouping: analytics.Grouping,
  widthSeconds: number,
): ReferencePoint[] {
  const groupOf = (row: RequestLogRow) =>
    ({ project: row.projectId, key: row.keyId, model: row.model })[grouping] || 'unattributed';
  const parts = new Map<string, RequestLogRow[]>();
  for (const row of rows) {
    const nth = Math.floor(Number(row.startedAtMicros / 1_000_000n) / widthSeconds);
    const bucket = new Date(nth * widthSeconds * 1000).toISOString().slice(0, 19);
    const point = JSON.stringify([bucket, groupOf(row)]);
    const part = parts.get(point);
    if (part) part.push(row);
    else parts.set(point, [row]);
  }
  return [...parts]
    .flatMap(([point, part]) => {
      const [bucket, group] = JSON.parse(point) as [string, string];
      const value = referenceFigure(part, metric);
      return value === null ? [] : [{ bucket, group, value }];
    })
    .sort(
      (a, b) =>
        (a.bucket < b.bucket ? -1 : Number(a.bucket > b.bucket)) ||
        Buffer.compare(Buffer.from(a.group), Buffer.from(b.group)),
    );
}
