import { analytics } from '@gatehouse/contract';
import { withSession } from '../http/implement.ts';
import { openPages } from './ask-for-page.ts';
import { isModest, seriesPages } from './figures/pages.ts';
import type { AnalyticsParts } from './parts.ts';
import { findScope } from './scope.ts';
import { streamPages } from './stream-pages.ts';

export function getTimeseries(parts: AnalyticsParts) {
  return withSession(
    analytics.getTimeseries,
    async ({ query, requestId, gone }, session) => {
      const { metric, group_by, interval, time_range, model_alias } = query;
      const database = parts.databaseFor(session.organizationId, gone);
      const scope = await findScope(database, session, query, model_alias, parts.nowMicros());
      const { organizationId } = session;
      const asker = { organizationId, requestId, gone };
      const series = {
        metric,
        grouping: group_by,
        widthSeconds: interval.seconds,
        requestsAnHour: parts.density.perHour(organizationId),
      };
      const head = { metric, interval: interval.text, group_by, time_range: time_range.text };
      return streamPages(parts, asker, {
        contentType: 'application/json; charset=utf-8',
        begin: `${JSON.stringify(head).slice(0, -1)},"data":[`,
        between: ',',
        end: ']}',
        pages: seriesPages(scope, series, parts.pages, openPages(parts, asker)),
        turns: parts.longSeries,
        isLong: !isModest(scope, series, parts.pages),
      });
    },
    { holdsPermit: false },
  );
}
