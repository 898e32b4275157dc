import { analytics } from '@gatehouse/contract';
import { withSession } from '../http/implement.ts';
import { startBudget } from '../lib/ask-telemetry.ts';
import { type AnalyticsParts, askForOne } from './parts.ts';
import { summaryFields } from './rules.ts';
import { findScope } from './scope.ts';
import { summary } from './telemetry.ts';

export function getSummary(parts: AnalyticsParts) {
  return withSession(analytics.getSummary, async ({ query, requestId }, session) => {
    const scope = await findScope(parts.database, session, query, query.model_alias, parts.nowMicros());
    const row = await askForOne(parts, requestId, startBudget(parts.timeoutMs), summary(scope));
    return {
      body: { time_range: query.time_range.text, ...summaryFields(row, scope.keyId !== undefined) },
    };
  });
}
