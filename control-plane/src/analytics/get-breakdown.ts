import { analytics } from '@gatehouse/contract';
import { withSession } from '../http/implement.ts';
import { findGroups } from './breakdown/key-groups.ts';
import { breakdownFigures, isIncomplete } from './breakdown/rules.ts';
import { breakdown, breakdownOfMany } from './breakdown/telemetry.ts';
import type { AnalyticsDependencies } from './dependencies.ts';
import { findGroupNames } from './names.ts';
import { openQuerySession } from './query-session.ts';
import { requestFilter } from './rules.ts';
import { findScopeIn } from './scope.ts';
import { windowFields, windowOf } from './window.ts';

export function getBreakdown(dependencies: AnalyticsDependencies) {
  const { databaseFor, nowMicros } = dependencies;
  return withSession(
    analytics.getBreakdown,
    async ({ query, requestId, gone }, { organizationId }) => {
      const { group_by: grouping, limit, model_alias } = query;
      const window = windowOf(query, nowMicros());
      const filter = requestFilter(query);
      const database = databaseFor(organizationId, gone);
      const scope = await findScopeIn(database, organizationId, query, model_alias, window);
      const session = openQuerySession(dependencies, { organizationId, requestId, gone });
      const groups = await findGroups(session, database, scope, grouping);
      let { found } = await session.row(breakdown(scope, filter, groups, limit));
      if (isIncomplete(found)) ({ found } = await session.row(breakdownOfMany(scope, filter, groups, limit)));
      const figures = breakdownFigures(found, limit);
      const labels = figures.groups.map(({ label }) => label);
      const nameOf = await findGroupNames(database, organizationId, grouping.by, labels);
      return {
        body: {
          ...windowFields(window),
          group_by: analytics.textOfGrouping(grouping),
          total: figures.total,
          groups: figures.groups.map(({ label, ...others }) => ({
            group: label,
            name: nameOf(label),
            ...others,
          })),
          other: figures.other,
        },
      };
    },
    { holdsPermit: false },
  );
}
