import { analytics } from '@gatehouse/contract';
import { withSession } from '../http/implement.ts';
import type { AnalyticsDependencies } from './dependencies.ts';
import { isReadWhole, seriesPages } from './figures/pages.ts';
import { pagedReply } from './paged-reply.ts';
import { openQuerySession } from './query-session.ts';
import { findScope } from './scope.ts';

export function getTimeseries(dependencies: AnalyticsDependencies) {
  const { databaseFor, nowMicros, rates, pages, longSeries } = dependencies;
  return withSession(
    analytics.getTimeseries,
    async ({ query, requestId, gone }, { organizationId }) => {
      const { metric, group_by, interval, time_range, model_alias } = query;
      const database = databaseFor(organizationId, gone);
      const scope = await findScope(database, organizationId, query, model_alias, nowMicros());
      const series = {
        metric,
        grouping: group_by,
        widthSeconds: interval.seconds,
        requestsPerHour: rates.perHour(organizationId),
      };
      const session = openQuerySession(dependencies, { organizationId, requestId, gone });
      const head = { metric, interval: interval.text, group_by, time_range: time_range.text };
      return pagedReply(session, {
        contentType: 'application/json; charset=utf-8',
        begin: `${JSON.stringify(head).slice(0, -1)},"data":[`,
        between: ',',
        end: ']}',
        pages: seriesPages(session, scope, series, pages),
        permits: longSeries,
        isLong: !isReadWhole(scope, series, pages),
      });
    },
    { holdsPermit: false },
  );
}
