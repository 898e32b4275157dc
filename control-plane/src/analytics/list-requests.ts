import { analytics, preferredType } from '@gatehouse/contract';
import { withSession } from '../http/implement.ts';
import type { AnalyticsDependencies } from './dependencies.ts';
import { exportRequests } from './export-requests.ts';
import { findNames } from './names.ts';
import { openQuerySession } from './query-session.ts';
import { requestLogEntry } from './request-entry.ts';
import { findPage } from './request-pages.ts';
import { requestFilter } from './rules.ts';
import { findScopeIn } from './scope.ts';
import { windowName, windowOf } from './window.ts';

export function listRequests(dependencies: AnalyticsDependencies) {
  const { databaseFor, nowMicros } = dependencies;
  const endpoint = analytics.listRequests;
  return withSession(
    endpoint,
    async ({ query, requestId, header, gone }, { organizationId }) => {
      const { limit, offset } = query;
      const filter = requestFilter(query);
      const window = windowOf(query, nowMicros());
      const database = databaseFor(organizationId, gone);
      const scope = await findScopeIn(database, organizationId, query, query.model, window);
      const session = openQuerySession(dependencies, { organizationId, requestId, gone });

      const type = preferredType(header('accept'), ['application/json', ...endpoint.exports]);
      if (type !== 'application/json')
        return exportRequests(dependencies, session, {
          type,
          name: windowName(query, window),
          scope,
          filter,
        });

      const { total, rows } = await findPage(session, scope, filter, { limit, offset });
      const names = await findNames(database, organizationId, rows);
      return { body: { total, limit, offset, requests: rows.map((row) => requestLogEntry(row, names)) } };
    },
    { holdsPermit: false },
  );
}
