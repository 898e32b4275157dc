import type { AskForPage } from '../ask-for-page.ts';
import type { Inquiry } from '../inquiry.ts';
import type { PageSizes } from '../parts.ts';
import type { Page } from '../stream-pages.ts';
import type { Scope } from '../telemetry.ts';
import { bucketOf, startOfBucket } from './rules.ts';
import { countGroups, type Place, points, type Series, timeAfterRows } from './telemetry.ts';

/**
 * The points of a series as JSON objects parted by commas, in pages of bounded size, whatever the pairing of window and
 * bucket width. A series of moderately many buckets is asked for at once, and is nearly always one page. Where it is not,
 * and where it is finer, it is cut into spans of time that hold a page each, or less: by buckets where most buckets have
 * rows, by rows where most have none.
 */
export async function* seriesPages(
  scope: Scope,
  series: Series,
  sizes: PageSizes,
  askForPage: AskForPage,
): AsyncGenerator<Page, void> {
  let place: PagePlace | undefined = { from: scope.fromMicros, isFirst: true };
  while (place) {
    const at: PagePlace = place;
    const { bytes, next } = await askForPage((inquiry) => readPage(inquiry, scope, series, sizes, at));
    yield { bytes, isLast: next === undefined };
    place = next;
  }
}

/** Where a page begins. */
interface PagePlace {
  readonly from: bigint;
  /** The last point of the page before, where that ended in the middle of a span. */
  readonly after?: Place;
  /** How many buckets a span has; known from the second page on. */
  readonly bucketsAtOnce?: bigint;
  readonly isFirst?: true;
}

async function readPage(
  inquiry: Inquiry,
  scope: Scope,
  series: Series,
  sizes: PageSizes,
  { from, after, isFirst, ...place }: PagePlace,
): Promise<{ bytes: Uint8Array; next: PagePlace | undefined }> {
  const { toMicros } = scope;
  const rest = { ...scope, fromMicros: from };
  const isWhole = isFirst && isModest(scope, series, sizes);
  const bucketsAtOnce = isWhole
    ? undefined
    : (place.bucketsAtOnce ?? (await chooseSpan(inquiry, rest, series, sizes)));
  const to =
    bucketsAtOnce === undefined ? toMicros : await endOfSpan(inquiry, rest, series, sizes, bucketsAtOnce);
  const question = points({ ...rest, toMicros: to }, series, { limit: sizes.points, after });
  const { lines } = await inquiry.askForLines(question);
  const count = joinLines(lines);
  const bytes = lines.subarray(0, -1);
  const span = bucketsAtOnce === undefined ? {} : { bucketsAtOnce };
  if (count === sizes.points) {
    const last = lastPlace(lines, series);
    const start = startOfBucket(last.bucket, series.widthSeconds);
    return { bytes, next: { from: start > from ? start : from, after: last, ...span } };
  }
  if (to < toMicros) return { bytes, next: { from: to + 1n, ...span } };
  // An answer that was lost looks like one without points; a store that loses answers loses this one too.
  if (isFirst && count === 0) await inquiry.askForOne(countGroups(scope, series.grouping));
  return { bytes, next: undefined };
}

/** Whether it has so few buckets that they are asked for at once. */
export function isModest(
  { fromMicros, toMicros }: Scope,
  { widthSeconds }: Series,
  { buckets }: PageSizes,
): boolean {
  return bucketOf(toMicros, widthSeconds) - bucketOf(fromMicros, widthSeconds) < buckets;
}

/** What a span is cut for: half a page, so that a bad guess is still one page. */
function spanPoints({ points }: PageSizes): number {
  return Math.max(Math.floor(points / 2), 1);
}

/** How many buckets may be asked for at once. */
async function chooseSpan(
  inquiry: Inquiry,
  scope: Scope,
  { grouping }: Series,
  sizes: PageSizes,
): Promise<bigint> {
  const { groups } = await inquiry.askForOne(countGroups(scope, grouping));
  return BigInt(Math.max(Math.floor(spanPoints(sizes) / Math.max(Number(groups), 1)), 1));
}

/** The last instant of the span that begins with the scope: that of a bucket, or of the scope. */
async function endOfSpan(
  inquiry: Inquiry,
  scope: Scope,
  { widthSeconds }: Series,
  sizes: PageSizes,
  bucketsAtOnce: bigint,
): Promise<bigint> {
  const { fromMicros, toMicros } = scope;
  const [row] = await inquiry.ask(timeAfterRows(scope, spanPoints(sizes)));
  if (!row) return toMicros;
  const first = bucketOf(fromMicros, widthSeconds);
  const byRows = bucketOf(BigInt(row.micros), widthSeconds);
  const byBuckets = first + bucketsAtOnce;
  const next = byRows > byBuckets ? byRows : byBuckets;
  const end = startOfBucket(next, widthSeconds) - 1n;
  return end < toMicros ? end : toMicros;
}

const NEWLINE = 10;
const COMMA = 44;

/** Puts commas in the place of the ends of lines, and returns how many there were. */
function joinLines(lines: Buffer): number {
  let count = 0;
  for (let at = lines.indexOf(NEWLINE); at >= 0; at = lines.indexOf(NEWLINE, at + 1)) {
    lines[at] = COMMA;
    count += 1;
  }
  return count;
}

/** The place of the last point of a page. A group's name is text, in which a brace may stand but no bare newline. */
function lastPlace(points: Buffer, { widthSeconds }: Series): Place {
  const start = points.lastIndexOf('{"bucket":"');
  const { bucket, group } = JSON.parse(points.toString('utf8', start, points.length - 1)) as Record<
    'bucket' | 'group',
    string
  >;
  return { bucket: bucketOf(BigInt(Date.parse(`${bucket}Z`)) * 1000n, widthSeconds), group };
}
