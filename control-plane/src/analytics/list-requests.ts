import { analytics, preferredType } from '@gatehouse/contract';
import { withSession } from '../http/implement.ts';
import { exportRequests } from './export-requests.ts';
import { type Inquiry, openInquiry } from './inquiry.ts';
import { findNames } from './names.ts';
import type { AnalyticsParts } from './parts.ts';
import { requestLogEntry } from './request-entry.ts';
import { statusClass } from './rules.ts';
import { findScope } from './scope.ts';
import * as telemetry from './telemetry.ts';

export function listRequests(parts: AnalyticsParts) {
  const endpoint = analytics.listRequests;
  return withSession(
    endpoint,
    async ({ query, requestId, header, gone }, session) => {
      const { limit, offset } = query;
      const filter: telemetry.RequestFilter = {
        statusClass: statusClass(query.status_category),
        terminationReason: query.termination_reason,
        minCostMicroPkr: query.min_cost_pkr,
        search: query.search,
      };
      const database = parts.databaseFor(session.organizationId, gone);
      const scope = await findScope(database, session, query, query.model, parts.nowMicros());

      const asker = { organizationId: session.organizationId, requestId, gone };
      const type = preferredType(header('accept'), ['application/json', ...endpoint.exports]);
      if (type !== 'application/json')
        return exportRequests(parts, asker, { type, window: query.time_range, scope, filter });

      const { total, rows } = await findPage(openInquiry(parts, asker), scope, filter, { limit, offset });
      const names = await findNames(database, session.organizationId, rows);
      return { body: { total, limit, offset, requests: rows.map((row) => requestLogEntry(row, names)) } };
    },
    { holdsPermit: false },
  );
}

interface FoundPage {
  readonly total: number;
  readonly rows: readonly telemetry.RequestRow[];
}

interface Wanted {
  readonly limit: number;
  readonly offset: number;
}

/** Up to here so little is skipped that it does not matter from which end. */
const NEAR_ROWS = 1_000;

// Rows may arrive between the two questions. A page is never longer than its own total says, and never shorter.
function findPage(
  inquiry: Inquiry,
  scope: telemetry.Scope,
  filter: telemetry.RequestFilter,
  wanted: Wanted,
): Promise<FoundPage> {
  const list = (page: telemetry.RequestPage) => inquiry.ask(telemetry.listRequests(scope, filter, page));
  const count = async () => {
    const { matching } = await inquiry.askForOne(telemetry.countRequests(scope, filter));
    return Number(matching);
  };
  if (wanted.offset > NEAR_ROWS) return findFarPage(count, list, wanted);
  return filter.search === undefined
    ? findNearPage(count, list, wanted)
    : findSearchedPage(inquiry, scope, filter, wanted);
}

type Count = () => Promise<number>;
type List = (page: telemetry.RequestPage) => Promise<telemetry.RequestRow[]>;

/** Asks both questions at once. */
async function findNearPage(count: Count, list: List, { limit, offset }: Wanted): Promise<FoundPage> {
  const [total, rows] = await Promise.all([count(), list({ limit, offset })]);
  const most = Math.max(Math.min(limit, total - offset), 0);
  return { total, rows: rows.length < most ? await list({ limit: most, offset }) : rows.slice(0, most) };
}

/**
 * A search looks at the text of every row, so it looks once: for the number of rows and the times of the newest. Then
 * the rows of these times are read.
 */
async function findSearchedPage(
  inquiry: Inquiry,
  scope: telemetry.Scope,
  filter: telemetry.RequestFilter,
  { limit, offset }: Wanted,
): Promise<FoundPage> {
  const found = await inquiry.askForOne(telemetry.findRequests(scope, filter, offset + limit));
  const total = Number(found.matching);
  const times = found.times.map(BigInt);
  const [newest] = times.slice(offset);
  if (newest === undefined) return { total, rows: [] };
  // Rows of the page's first instant that belong to the page before.
  const skipped = offset - times.indexOf(newest);
  const page = { limit: Math.min(limit, total - offset), offset: skipped };
  const rows = await inquiry.ask(telemetry.listRequestsOf(scope, filter, times.slice(offset), page));
  return { total, rows };
}

/** What is skipped is read too: not at all past the end, however far past, and else from the end that is nearer. */
async function findFarPage(count: Count, list: List, { limit, offset }: Wanted): Promise<FoundPage> {
  const total = await count();
  const most = Math.min(limit, total - offset);
  if (most <= 0) return { total, rows: [] };
  const newer = offset;
  const older = total - offset - most;
  if (newer <= older) return { total, rows: await list({ limit: most, offset }) };
  const rows = await list({ limit: most, offset: older, isOldestFirst: true });
  return { total, rows: rows.toReversed() };
}
