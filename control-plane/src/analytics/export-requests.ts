import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Duration, ExportType } from '@gatehouse/contract';
import type { StreamedReply } from '../http/implement.ts';
import type { Lines } from '../lib/ask-telemetry.ts';
import { openPages } from './ask-for-page.ts';
import type { Asker, Inquiry } from './inquiry.ts';
import { type Names, openNames } from './names.ts';
import type { AnalyticsParts } from './parts.ts';
import { CSV_HEADER, requestCsvLine } from './request-csv.ts';
import { requestLogEntry } from './request-entry.ts';
import { type Page, streamPages } from './stream-pages.ts';
import type { RequestFilter, Scope } from './telemetry.ts';
import { countRequests, listRequestsAfter, type RequestPlace, type RequestRow } from './telemetry.ts';

/** A form in which the request log is written whole. */
interface Form {
  readonly ending: string;
  readonly begin: string;
  readonly line: (row: RequestRow, names: Names) => string;
}

const FORMS: Readonly<Record<ExportType, Form>> = {
  'text/csv': { ending: 'csv', begin: CSV_HEADER, line: requestCsvLine },
  'application/x-ndjson': {
    ending: 'ndjson',
    begin: '',
    line: (row, names) => `${JSON.stringify(requestLogEntry(row, names))}\n`,
  },
};

export interface Export {
  readonly type: ExportType;
  readonly window: Duration;
  readonly scope: Scope;
  readonly filter: RequestFilter;
}

/**
 * Everything that lies in the scope and passes the filter, in the order of the JSON pages. Each page is asked for by the
 * last row of the one before, so it costs the same wherever it lies, and what arrives meanwhile moves nothing.
 */
export function exportRequests(
  parts: AnalyticsParts,
  asker: Asker,
  { type, window, scope, filter }: Export,
): Promise<StreamedReply> {
  const { begin, line, ending } = FORMS[type];
  const findNames = openNames(parts.database, asker.organizationId);
  const askForPage = openPages(parts, asker);

  async function* pages(): AsyncGenerator<Page, void> {
    const { rows: mostRows, bytes: mostBytes } = parts.pages;
    let after: RequestPlace | undefined;
    let limit = mostRows;
    for (let isLast = false; !isLast; ) {
      const question = { scope, filter, after, limit, mostBytes };
      const { lines, isWhole } = await askForPage((inquiry) => findPage(inquiry, question));
      const rows = await parsed(lines);
      const last = rows.at(-1);
      if (last) after = { micros: BigInt(last.timestamp_micros), requestId: last.request_id };
      isLast = isWhole && rows.length < limit;
      // Of large rows fewer are asked for next time, instead of being read and left: half of what a page may be, since
      // the next ones may be larger still.
      const fit = Math.floor((mostBytes * rows.length) / 2 / Math.max(lines.length, 1));
      limit = Math.min(Math.max(fit, 1), mostRows);
      yield { bytes: await written(rows, line, await findNames(rows)), isLast };
    }
  }

  return streamPages(parts, asker, {
    contentType: `${type}; charset=utf-8`,
    headers: { 'content-disposition': `attachment; filename="requests-${window.text}.${ending}"` },
    begin,
    between: '',
    end: '',
    pages: pages(),
    turns: parts.exports,
    isLong: true,
  });
}

/** The rows of a page, a line each. Empty only where there are none: an answer that was lost would look the same. */
async function findPage(
  inquiry: Inquiry,
  { scope, filter, after, limit, mostBytes }: PageQuestion,
): Promise<Lines> {
  for (;;) {
    const page = await inquiry.askForLines(listRequestsAfter(scope, filter, after, limit), mostBytes);
    if (page.lines.length > 0) return page;
    const { matching } = await inquiry.askForOne(countRequests(scope, filter, after));
    if (matching === '0') return page;
  }
}

interface PageQuestion {
  readonly scope: Scope;
  readonly filter: RequestFilter;
  readonly after: RequestPlace | undefined;
  readonly limit: number;
  readonly mostBytes: number;
}

/** So many rows are read or written before others have a turn: some two milliseconds. */
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

async function written(rows: readonly RequestRow[], line: Form['line'], names: Names): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
    const some = rows.slice(start, start + ROWS_AT_ONCE);
    pieces.push(Buffer.from(some.map((row) => line(row, names)).join('')));
    await nextTurn();
  }
  return Buffer.concat(pieces);
}
