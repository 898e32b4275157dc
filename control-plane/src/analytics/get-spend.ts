import { analytics } from '@gatehouse/contract';
import { withSession } from '../http/implement.ts';
import { findKeys } from './breakdown/key-groups.ts';
import type { AnalyticsDependencies } from './dependencies.ts';
import { findGroupNames } from './names.ts';
import { openQuerySession } from './query-session.ts';
import { requestFilter } from './rules.ts';
import { findScopeIn } from './scope.ts';
import { bucketsOf } from './spend/buckets.ts';
import { spendFigures } from './spend/rules.ts';
import { type SpendGroups, spend } from './spend/telemetry.ts';
import { timestampInZone } from './spend/time-zone.ts';
import { windowFields, windowOf } from './window.ts';

export function getSpend(dependencies: AnalyticsDependencies) {
  const { databaseFor, nowMicros, rates } = dependencies;
  return withSession(
    analytics.getSpend,
    async ({ query, requestId, gone }, { organizationId }) => {
      const { group_by: grouping, interval, time_zone, limit, model_alias } = query;
      const window = windowOf(query, nowMicros());
      const filter = requestFilter(query);
      const { starts, zone } = bucketsOf(window, interval, time_zone);
      const database = databaseFor(organizationId, gone);
      const scope = await findScopeIn(database, organizationId, query, model_alias, window);
      const session = openQuerySession(dependencies, { organizationId, requestId, gone });
      const requestsPerHour = rates.perHour(organizationId);
      const groups: SpendGroups =
        grouping === 'member'
          ? { by: grouping, keys: await findKeys(session, database, scope, grouping) }
          : { by: grouping };
      const { found } = await session.row(spend(scope, { filter, groups, starts, limit, requestsPerHour }));
      const { total, groups: costs, other } = spendFigures(found, starts, limit);
      const labels = costs.map(({ label }) => label);
      const nameOf = await findGroupNames(database, organizationId, grouping, labels);
      return {
        body: {
          ...windowFields(window),
          interval: interval.text,
          time_zone: zone.name,
          group_by: grouping,
          buckets: starts.map((start) => timestampInZone(zone, start)),
          total,
          groups: costs.map(({ label, ...figures }) => ({ group: label, name: nameOf(label), ...figures })),
          other,
        },
      };
    },
    { holdsPermit: false },
  );
}
