import { analytics } from '@gatehouse/contract';
import { withSession } from '../http/implement.ts';
import type { AnalyticsDependencies } from './dependencies.ts';
import { listThrottledKeys, type ThrottledKeyRow } from './queries.ts';
import { openQuerySession } from './query-session.ts';
import { throttlingEntry } from './rules.ts';
import { findScope } from './scope.ts';
import { keyTraffic } from './throttling/telemetry.ts';

export function getUsageThrottling(dependencies: AnalyticsDependencies) {
  const { databaseFor, nowMicros, rateLimitCeilingRpm } = dependencies;
  return withSession(
    analytics.getUsageThrottling,
    async ({ query, requestId, gone }, { organizationId }) => {
      const database = databaseFor(organizationId, gone);
      const scope = await findScope(database, organizationId, query, query.model_alias, nowMicros());
      const session = openQuerySession(dependencies, { organizationId, requestId, gone });
      const rows = await session.rows(keyTraffic(scope));
      const ids = rows.map(({ key }) => key);
      const keys = ids.length === 0 ? [] : await database.many(listThrottledKeys, { organizationId, ids });
      const known = new Map<string, ThrottledKeyRow>(keys.map((key) => [key.id, key]));
      return {
        body: {
          time_range: query.time_range.text,
          keys: rows.map((row) => throttlingEntry(row, known.get(row.key), rateLimitCeilingRpm)),
        },
      };
    },
    { holdsPermit: false },
  );
}
