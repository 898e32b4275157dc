import { type AnalyticsSearch, validateAnalytics } from '../../app/analytics-search.ts';
import { GROUPINGS, type Grouping, METRICS, type Metric } from './overview-choices.ts';

export interface OverviewSearch extends AnalyticsSearch {
  /** The grouping of the chart. */
  readonly by?: Grouping | undefined;
  /** The metric of the chart. */
  readonly metric?: Metric | undefined;
}

export function validateOverview(search: Record<string, unknown>): OverviewSearch {
  const by = GROUPINGS.find((grouping) => grouping === search['by']);
  const metric = METRICS.find((name) => name === search['metric']);
  return {
    ...validateAnalytics(search),
    ...(by === undefined ? {} : { by }),
    ...(metric === undefined ? {} : { metric }),
  };
}
