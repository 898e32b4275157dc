import { analytics } from '@gatehouse/contract';
import { withSession } from '../http/implement.ts';
import { summary } from './figures/telemetry.ts';
import { openInquiry } from './inquiry.ts';
import type { AnalyticsParts } from './parts.ts';
import { summaryFields } from './rules.ts';
import { findScope } from './scope.ts';

export function getSummary(parts: AnalyticsParts) {
  return withSession(
    analytics.getSummary,
    async ({ query, requestId, gone }, session) => {
      const database = parts.databaseFor(session.organizationId, gone);
      const scope = await findScope(database, session, query, query.model_alias, parts.nowMicros());
      const { organizationId } = session;
      const question = summary(scope, parts.density.perHour(organizationId));
      const row = await openInquiry(parts, { organizationId, requestId, gone }).askForOne(question);
      parts.density.learn(scope, Number(row.requests_text));
      return {
        body: { time_range: query.time_range.text, ...summaryFields(row, scope.keyId !== undefined) },
      };
    },
    { holdsPermit: false },
  );
}
