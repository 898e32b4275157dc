import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ExportType } from '@gatehouse/contract';
import type { Lines } from '@gatehouse/store';
import type { StreamedReply } from '../http/implement.ts';
import type { AnalyticsDependencies } from './dependencies.ts';
import { type Names, openNames } from './names.ts';
import { type Page, pagedReply } from './paged-reply.ts';
import type { QuerySession } from './query-session.ts';
import { CSV_HEADER, requestCsvLine } from './request-csv.ts';
import { requestLogEntry } from './request-entry.ts';
import {
  countRequests,
  listRequestsAfter,
  type RequestCursor,
  type RequestFilter,
  type RequestRow,
  type Scope,
} from './telemetry.ts';

/** A format in which the whole request log is written. */
interface Format {
  readonly extension: string;
  readonly begin: string;
  readonly line: (row: RequestRow, names: Names) => string;
}

const FORMATS: Readonly<Record<ExportType, Format>> = {
  'text/csv': { extension: 'csv', begin: CSV_HEADER, line: requestCsvLine },
  'application/x-ndjson': {
    extension: 'ndjson',
    begin: '',
    line: (row, names) => `${JSON.stringify(requestLogEntry(row, names))}\n`,
  },
};

export interface Export {
  readonly type: ExportType;
  /** The name of the window; part of the file's name. */
  readonly name: string;
  readonly scope: Scope;
  readonly filter: RequestFilter;
}

/**
 * Every row in the scope that passes the filter, in the order of the JSON pages. A page begins after the last row of the
 * page before, so each costs the same, and rows that arrive meanwhile move nothing.
 */
export function exportRequests(
  { database, pages: sizes, exports }: AnalyticsDependencies,
  session: QuerySession,
  { type, name, scope, filter }: Export,
): Promise<StreamedReply> {
  const { begin, line, extension } = FORMATS[type];
  const findNames = openNames(database, scope.organizationId);

  // A function of its own: pages that wait for their reader keep only what they need for the next one.
  const readPage = async ({ after, limit }: PageStart) => {
    const { lines, isComplete } = await findPage(session, { scope, filter, after, limit }, sizes.bytes);
    const rows = await parsed(lines);
    const bytes = await written(rows, line, await findNames(rows));
    if (isComplete && rows.length < limit) return { bytes, next: undefined };
    const last = rows.at(-1);
    // Of large rows fewer are read next time, instead of being read and dropped: half of what fits into a page, because
    // the next ones may be larger still.
    const fitting = Math.floor((sizes.bytes * rows.length) / 2 / Math.max(lines.length, 1));
    const next: PageStart = {
      after: last ? { micros: BigInt(last.timestamp_micros), requestId: last.request_id } : after,
      limit: Math.min(Math.max(fitting, 1), sizes.rows),
    };
    return { bytes, next };
  };

  async function* pages(): AsyncGenerator<Page, void> {
    let start: PageStart | undefined = { after: undefined, limit: sizes.rows };
    while (start) {
      const { bytes, next }: { bytes: Buffer; next: PageStart | undefined } = await readPage(start);
      yield { bytes, isLast: next === undefined };
      start = next;
    }
  }

  return pagedReply(session, {
    contentType: `${type}; charset=utf-8`,
    headers: { 'content-disposition': `attachment; filename="requests-${name}.${extension}"` },
    begin,
    between: '',
    end: '',
    pages: pages(),
    permits: exports,
    isLong: true,
  });
}

interface PageStart {
  /** The last row of the page before. */
  readonly after: RequestCursor | undefined;
  readonly limit: number;
}

interface PageQuery extends PageStart {
  readonly scope: Scope;
  readonly filter: RequestFilter;
}

/** The rows of a page, one a line. No line only where no row is left: a lost answer would look the same. */
async function findPage(
  session: QuerySession,
  { scope, filter, after, limit }: PageQuery,
  maxBytes: number,
): Promise<Lines> {
  for (;;) {
    const page = await session.lines(listRequestsAfter(scope, filter, after, limit), maxBytes);
    if (page.lines.length > 0) return page;
    const { matching } = await session.row(countRequests(scope, filter, after));
    if (matching === '0') return page;
  }
}

/** This many rows are parsed or written before other requests run: about two milliseconds. */
const ROWS_AT_ONCE = 250;

async function parsed(lines: Buffer): Promise<RequestRow[]> {
  const rows: RequestRow[] = [];
  for (let start = 0; start < lines.length; ) {
    const end = lines.indexOf('\n', start);
    rows.push(JSON.parse(lines.toString('utf8', start, end)) as RequestRow);
    start = end + 1;
    if (rows.length % ROWS_AT_ONCE === 0) await nextTurn();
  }
  return rows;
}

async function written(rows: readonly RequestRow[], line: Format['line'], names: Names): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
    const some = rows.slice(start, start + ROWS_AT_ONCE);
    pieces.push(Buffer.from(some.map((row) => line(row, names)).join('')));
    await nextTurn();
  }
  return Buffer.concat(pieces);
}
