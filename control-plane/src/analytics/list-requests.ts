import { analytics, preferredType } from '@gatehouse/contract';
import { withSession } from '../http/implement.ts';
import type { AnalyticsDependencies } from './dependencies.ts';
import { exportRequests } from './export-requests.ts';
import { findNames } from './names.ts';
import { openQuerySession } from './query-session.ts';
import { requestLogEntry } from './request-entry.ts';
import { findPage } from './request-pages.ts';
import { statusClass } from './rules.ts';
import { findScope } from './scope.ts';

export function listRequests(dependencies: AnalyticsDependencies) {
  const { databaseFor, nowMicros } = dependencies;
  const endpoint = analytics.listRequests;
  return withSession(
    endpoint,
    async ({ query, requestId, header, gone }, { organizationId }) => {
      const { limit, offset, time_range } = query;
      const filter = {
        statusClass: statusClass(query.status_category),
        terminationReason: query.termination_reason,
        minCostMicroPkr: query.min_cost_pkr,
        search: query.search,
      };
      const database = databaseFor(organizationId, gone);
      const scope = await findScope(database, organizationId, query, query.model, nowMicros());
      const session = openQuerySession(dependencies, { organizationId, requestId, gone });

      const type = preferredType(header('accept'), ['application/json', ...endpoint.exports]);
      if (type !== 'application/json')
        return exportRequests(dependencies, session, { type, window: time_range, scope, filter });

      const { total, rows } = await findPage(session, scope, filter, { limit, offset });
      const names = await findNames(database, organizationId, rows);
      return { body: { total, limit, offset, requests: rows.map((row) => requestLogEntry(row, names)) } };
    },
    { holdsPermit: false },
  );
}
