import { analytics, notFound } from '@gatehouse/contract';
import { withSession } from '../http/implement.ts';
import type { AnalyticsDependencies } from './dependencies.ts';
import { findNames } from './names.ts';
import { openQuerySession } from './query-session.ts';
import { requestAttempts } from './request-attempts.ts';
import { requestLogEntry } from './request-entry.ts';
import { requestTimeOf } from './request-time.ts';
import { findRequest } from './telemetry.ts';

// The time in an id and the time of its row are read from one clock within a millisecond, and a row of counted requests has
// the time of the last one, ten seconds later at most. A clock that was set back or forward in between is looked for too.
const SPANS_MS = [60_000, 86_400_000];

export function showRequest(dependencies: AnalyticsDependencies) {
  return withSession(
    analytics.showRequest,
    async ({ params, requestId, gone }, { organizationId }) => {
      const asked = requestTimeOf(params['req_id'] ?? '');
      if (!asked) throw notFound('Request');
      const session = openQuerySession(dependencies, { organizationId, requestId, gone });
      for (const spanMs of SPANS_MS) {
        const [row] = await session.rows(findRequest(organizationId, asked, spanMs));
        if (!row) continue;
        const names = await findNames(dependencies.databaseFor(organizationId, gone), organizationId, [row]);
        return { body: { ...requestLogEntry(row, names), attempts: requestAttempts(row.attempts) } };
      }
      throw notFound('Request');
    },
    { holdsPermit: false },
  );
}
