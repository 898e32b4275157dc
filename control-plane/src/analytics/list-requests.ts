import { analytics } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { withSession } from '../http/implement.ts';
import { startBudget } from '../lib/ask-telemetry.ts';
import { type AnalyticsParts, ask, askForOne } from './parts.ts';
import * as queries from './queries.ts';
import { type Names, requestLogEntry, statusClass } from './rules.ts';
import { findScope } from './scope.ts';
import * as telemetry from './telemetry.ts';

export function listRequests(parts: AnalyticsParts) {
  return withSession(analytics.listRequests, async ({ query, requestId }, session) => {
    const { limit, offset } = query;
    const filter: telemetry.RequestFilter = {
      statusClass: statusClass(query.status_category),
      terminationReason: query.termination_reason,
      minCostMicroPkr: query.min_cost_pkr,
      search: query.search,
    };
    const scope = await findScope(parts.database, session, query, query.model, parts.nowMicros());

    const budget = startBudget(parts.timeoutMs);
    const count = await askForOne(parts, requestId, budget, telemetry.countRequests(scope, filter));
    const total = Number(count.matching);
    // Past the end there is nothing to sort and skip, however far past. A row that arrives between the two questions
    // must not make the page longer than its own total says.
    const page = { limit: Math.min(limit, total - offset), offset };
    const rows =
      page.limit > 0 ? await ask(parts, requestId, budget, telemetry.listRequests(scope, filter, page)) : [];
    const names = await findNames(parts.database, session.organizationId, rows);
    return { body: { total, limit, offset, requests: rows.map((row) => requestLogEntry(row, names)) } };
  });
}

async function findNames(
  database: Database,
  organizationId: string,
  rows: readonly telemetry.RequestRow[],
): Promise<Names> {
  const distinct = (ids: (string | null)[]) => [...new Set(ids.filter((id) => id !== null))];
  const keyIds = distinct(rows.map((row) => row.key_id));
  const projectIds = distinct(rows.map((row) => row.project_id));
  const [keys, projects] = await Promise.all([
    keyIds.length === 0 ? [] : database.many(queries.listKeyNames, [organizationId, keyIds]),
    projectIds.length === 0 ? [] : database.many(queries.listProjectNames, [organizationId, projectIds]),
  ]);
  return {
    keys: new Map(keys.map((row) => [row.id, row.name])),
    projects: new Map(projects.map((row) => [row.id, row.name])),
  };
}
