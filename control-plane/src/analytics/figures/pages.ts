import type { PageSizes } from '../dependencies.ts';
import type { Page } from '../paged-reply.ts';
import type { QuerySession } from '../query-session.ts';
import type { Scope } from '../telemetry.ts';
import { bucketOf, startOfBucket } from './rules.ts';
import { countGroups, type PointCursor, points, type Series, timeAfterRows } from './telemetry.ts';

/**
 * The points of a series as JSON objects separated by commas, in pages of bounded size, for any combination of window
 * and bucket width. There are two strategies. A series of few buckets is read whole, and is nearly always one page. A
 * finer one is read in spans of time that hold a page or less: as many buckets as have that many points, or more where
 * that many rows span more.
 */
export async function* seriesPages(
  session: QuerySession,
  scope: Scope,
  series: Series,
  sizes: PageSizes,
): AsyncGenerator<Page, void> {
  let cursor: SeriesCursor | undefined = { from: scope.fromMicros, isFirst: true };
  while (cursor) {
    const at: SeriesCursor = cursor;
    const { bytes, next } = await readPage(session, scope, series, sizes, at);
    yield { bytes, isLast: next === undefined };
    cursor = next;
  }
}

/** The start of a page. */
interface SeriesCursor {
  readonly from: bigint;
  /** The last point of the page before, where that page ended inside a span. */
  readonly after?: PointCursor;
  /** How many buckets a span has at least; known from the second page on. */
  readonly bucketsPerSpan?: bigint;
  readonly isFirst?: true;
}

async function readPage(
  session: QuerySession,
  scope: Scope,
  series: Series,
  sizes: PageSizes,
  { from, after, isFirst, ...cursor }: SeriesCursor,
): Promise<{ bytes: Uint8Array; next: SeriesCursor | undefined }> {
  const { toMicros } = scope;
  const rest = { ...scope, fromMicros: from };
  const isWhole = isFirst && isReadWhole(scope, series, sizes);
  const bucketsPerSpan = isWhole
    ? undefined
    : (cursor.bucketsPerSpan ?? (await chooseSpan(session, rest, series, sizes)));
  const to =
    bucketsPerSpan === undefined ? toMicros : await endOfSpan(session, rest, series, sizes, bucketsPerSpan);
  const { lines } = await session.lines(
    points({ ...rest, toMicros: to }, series, { limit: sizes.points, after }),
  );
  const count = joinLines(lines);
  const bytes = lines.subarray(0, -1);
  const span = bucketsPerSpan === undefined ? {} : { bucketsPerSpan };
  if (count === sizes.points) {
    const last = lastPoint(lines, series);
    const start = startOfBucket(last.bucket, series.widthSeconds);
    return { bytes, next: { from: start > from ? start : from, after: last, ...span } };
  }
  if (to < toMicros) return { bytes, next: { from: to + 1n, ...span } };
  // A lost answer looks like one without points. A query that always has a row tells them apart.
  if (isFirst && count === 0) await session.row(countGroups(scope, series.grouping));
  return { bytes, next: undefined };
}

/** True if a series has so few buckets that it is read whole. */
export function isReadWhole(
  { fromMicros, toMicros }: Scope,
  { widthSeconds }: Series,
  { buckets }: PageSizes,
): boolean {
  return bucketOf(toMicros, widthSeconds) - bucketOf(fromMicros, widthSeconds) < buckets;
}

/** The points planned for a span: half a page, so that a bad estimate still fits into one. */
function spanPoints({ points }: PageSizes): number {
  return Math.max(Math.floor(points / 2), 1);
}

/** How many buckets have as many points as a span should. */
async function chooseSpan(
  session: QuerySession,
  scope: Scope,
  { grouping }: Series,
  sizes: PageSizes,
): Promise<bigint> {
  const { groups } = await session.row(countGroups(scope, grouping));
  return BigInt(Math.max(Math.floor(spanPoints(sizes) / Math.max(Number(groups), 1)), 1));
}

/** The last instant of the span at the start of the scope: the end of a bucket, or of the scope. */
async function endOfSpan(
  session: QuerySession,
  scope: Scope,
  { widthSeconds }: Series,
  sizes: PageSizes,
  bucketsPerSpan: bigint,
): Promise<bigint> {
  const { fromMicros, toMicros } = scope;
  const [row] = await session.rows(timeAfterRows(scope, spanPoints(sizes)));
  if (!row) return toMicros;
  const first = bucketOf(fromMicros, widthSeconds);
  const byRows = bucketOf(BigInt(row.micros), widthSeconds);
  const byBuckets = first + bucketsPerSpan;
  const next = byRows > byBuckets ? byRows : byBuckets;
  const end = startOfBucket(next, widthSeconds) - 1n;
  return end < toMicros ? end : toMicros;
}

const NEWLINE = 10;
const COMMA = 44;

/** Replaces each newline by a comma and returns how many there were. */
function joinLines(lines: Buffer): number {
  let count = 0;
  for (let at = lines.indexOf(NEWLINE); at >= 0; at = lines.indexOf(NEWLINE, at + 1)) {
    lines[at] = COMMA;
    count += 1;
  }
  return count;
}

/** The last point of a page. The name of a group may contain a brace, but quotes in it are escaped. */
function lastPoint(points: Buffer, { widthSeconds }: Series): PointCursor {
  const start = points.lastIndexOf('{"bucket":"');
  const { bucket, group } = JSON.parse(points.toString('utf8', start, points.length - 1)) as Record<
    'bucket' | 'group',
    string
  >;
  return { bucket: bucketOf(BigInt(Date.parse(`${bucket}Z`)) * 1000n, widthSeconds), group };
}
