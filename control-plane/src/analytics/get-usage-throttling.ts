import { analytics } from '@gatehouse/contract';
import { withSession } from '../http/implement.ts';
import { openInquiry } from './inquiry.ts';
import type { AnalyticsParts } from './parts.ts';
import { listThrottledKeys } from './queries.ts';
import { throttlingEntry } from './rules.ts';
import { findScope } from './scope.ts';
import { trafficOfKeys } from './throttling/telemetry.ts';

export function getUsageThrottling(parts: AnalyticsParts) {
  return withSession(
    analytics.getUsageThrottling,
    async ({ query, requestId, gone }, session) => {
      const { organizationId } = session;
      const database = parts.databaseFor(organizationId, gone);
      const scope = await findScope(database, session, query, query.model_alias, parts.nowMicros());
      const rows = await openInquiry(parts, { organizationId, requestId, gone }).ask(trafficOfKeys(scope));
      const ids = rows.map(({ key }) => key);
      const keys = ids.length === 0 ? [] : await database.many(listThrottledKeys, [organizationId, ids]);
      const known = new Map(keys.map((key) => [key.id, key]));
      return {
        body: {
          time_range: query.time_range.text,
          keys: rows.map((row) => throttlingEntry(row, known.get(row.key))),
        },
      };
    },
    { holdsPermit: false },
  );
}
