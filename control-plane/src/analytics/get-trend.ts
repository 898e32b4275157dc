import { analytics } from '@gatehouse/contract';
import { withSession } from '../http/implement.ts';
import { findGroups } from './breakdown/key-groups.ts';
import type { AnalyticsDependencies } from './dependencies.ts';
import { findGroupNames } from './names.ts';
import { openQuerySession } from './query-session.ts';
import { requestFilter } from './rules.ts';
import { findScopeIn } from './scope.ts';
import { bucketsOf } from './spend/buckets.ts';
import { timestampInZone } from './spend/time-zone.ts';
import { findCells } from './trend/find-cells.ts';
import { figuresOf, requireFewCells, seriesOf, windowBefore } from './trend/series.ts';
import { rankGroups } from './trend/telemetry.ts';
import { windowFields, windowOf } from './window.ts';

export function getTrend(dependencies: AnalyticsDependencies) {
  const { databaseFor, nowMicros, rates } = dependencies;
  return withSession(
    analytics.getTrend,
    async ({ query, requestId, gone }, { organizationId }) => {
      const { group_by: grouping, limit, figures, interval, time_zone } = query;
      const window = windowOf(query, nowMicros());
      const filter = requestFilter(query);
      const { starts, zone } = bucketsOf(window, interval, time_zone);
      requireFewCells(starts.length, grouping && limit, figures);
      const database = databaseFor(organizationId, gone);
      const scope = await findScopeIn(database, organizationId, query, query.model_alias, window);
      const session = openQuerySession(dependencies, { organizationId, requestId, gone });
      const part = { scope, filter, requestsPerHour: rates.perHour(organizationId) };
      const by = grouping && (await findGroups(session, database, scope, grouping));
      const ranked = by && (await session.row(rankGroups(part, by, limit)));
      const groups = by && ranked && { by, labels: ranked.labels };
      const before = query.previous === 'true' ? windowBefore(window) : undefined;
      const [cells, cellsBefore] = await Promise.all([
        findCells(session, part, { starts, groups, figures }),
        before &&
          findCells(
            session,
            { ...part, scope: { ...scope, ...before } },
            { starts: [0], groups: undefined, figures },
          ),
      ]);
      const isWhole = Object.values(filter).every((condition) => condition === undefined);
      const { requests } = figuresOf(cells, 0, ['requests']);
      if (isWhole && figures.includes('requests')) rates.record(scope, requests ?? 0);
      const series = (place: number) => seriesOf(cells, place, figures, starts);
      const labels = groups?.labels.map((label) => label || null) ?? [];
      const nameOf = await findGroupNames(database, organizationId, grouping?.by ?? '', labels);
      const unlisted = Number(ranked?.members ?? 0) - labels.length;
      const hasOther = groups !== undefined && (unlisted > 0 || cells.has(labels.length + 1));
      return {
        body: {
          ...windowFields(window),
          interval: interval.text,
          time_zone: zone.name,
          group_by: grouping ? analytics.textOfGrouping(grouping) : null,
          figures: [...figures],
          buckets: starts.map((start) => timestampInZone(zone, start)),
          total: series(0),
          groups: labels.map((label, index) => ({ group: label, name: nameOf(label), ...series(index + 1) })),
          // A group may appear between the two queries.
          other: hasOther ? { groups: Math.max(unlisted, 1), ...series(labels.length + 1) } : null,
          previous:
            before && cellsBefore ? { ...windowFields(before), ...figuresOf(cellsBefore, 0, figures) } : null,
        },
      };
    },
    { holdsPermit: false },
  );
}
