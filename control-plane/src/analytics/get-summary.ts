import { analytics } from '@gatehouse/contract';
import { withSession } from '../http/implement.ts';
import type { AnalyticsDependencies } from './dependencies.ts';
import { summary } from './figures/telemetry.ts';
import { openQuerySession } from './query-session.ts';
import { summaryFields } from './rules.ts';
import { findScope } from './scope.ts';

export function getSummary(dependencies: AnalyticsDependencies) {
  const { databaseFor, nowMicros, rates } = dependencies;
  return withSession(
    analytics.getSummary,
    async ({ query, requestId, gone }, { organizationId }) => {
      const database = databaseFor(organizationId, gone);
      const scope = await findScope(database, organizationId, query, query.model_alias, nowMicros());
      const session = openQuerySession(dependencies, { organizationId, requestId, gone });
      const row = await session.row(summary(scope, rates.perHour(organizationId)));
      rates.record(scope, Number(row.requests_text));
      return {
        body: { time_range: query.time_range.text, ...summaryFields(row, scope.keyId !== undefined) },
      };
    },
    { holdsPermit: false },
  );
}
