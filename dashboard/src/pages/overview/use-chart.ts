import type { GetTrendReply } from '@gatehouse/sdk';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { type ApiCall, apiCall, queryOf } from '../../api/call.ts';
import type { Series } from '../../charts/series.ts';
import { type Interval, intervalQuery } from '../../format/interval.ts';
import { viewerZone } from '../../format/zone.ts';
import { chartSeries, spendSeries } from './chart-series.ts';
import { isQuantile, METRIC_VIEWS } from './metrics.ts';
import type { Grouping, Metric } from './overview-choices.ts';

export interface ChartRequest {
  /** Window and filters, as the API takes them. */
  readonly query: object;
  readonly interval: Interval;
  readonly metric: Metric;
  readonly by: Grouping;
  readonly refreshMs: number | false;
}

export interface ChartData {
  readonly call: ApiCall;
  /** Undefined while the first values load. */
  readonly chart: { readonly buckets: readonly string[]; readonly series: readonly Series[] } | undefined;
  /** The data of the chart, if it is a trend. */
  readonly trend: GetTrendReply | undefined;
  /** True if the values are of the window or filter before. */
  readonly isStale: boolean;
  readonly error: unknown;
  readonly retry: () => unknown;
}

/** Seven groups and the others are as many as a chart can tell apart. */
const MAX_GROUPS = 7;

/** The data and state of the chart. Divided spend has an endpoint of its own, which lists the most expensive groups. */
export function useChart({ query, interval, metric, by, refreshMs }: ChartRequest): ChartData {
  const isSpend = metric === 'spend' && by !== 'nothing';
  const { figures } = METRIC_VIEWS[metric];
  const groups = by === 'nothing' ? {} : { group_by: by, limit: MAX_GROUPS };
  const trendCall = apiCall('getTrend', {
    ...query,
    interval: interval.text,
    time_zone: viewerZone,
    figures,
    ...groups,
    // Quantiles of the chart are the overview's as well, with their change.
    previous: isQuantile(metric) ? 'true' : 'false',
  });
  const spendCall = apiCall('getSpend', {
    ...query,
    ...intervalQuery(interval, viewerZone),
    ...(by === 'nothing' ? {} : { group_by: by, limit: MAX_GROUPS }),
  });
  const trend = useQuery({ ...queryOf(trendCall), enabled: !isSpend, refetchInterval: refreshMs });
  const spend = useQuery({ ...queryOf(spendCall), enabled: isSpend, refetchInterval: refreshMs });
  if (isSpend) {
    const costs = spend.data?.group_by === by ? spend.data : undefined;
    return result(
      spendCall,
      spend,
      costs && { buckets: costs.buckets, series: spendSeries(costs) },
      undefined,
    );
  }
  // The reply of before may be of another figure or division: then there is nothing to show yet.
  const { data } = trend;
  const wanted = figures.split(',');
  const isOfThis =
    data?.group_by === (by === 'nothing' ? null : by) &&
    wanted.every((figure) => (data?.figures as readonly string[] | undefined)?.includes(figure));
  const reply = isOfThis ? data : undefined;
  return result(
    trendCall,
    trend,
    reply && { buckets: reply.buckets, series: chartSeries(reply, metric) },
    reply,
  );
}

function result(
  call: ApiCall,
  { isPlaceholderData, error, refetch }: Pick<UseQueryResult, 'isPlaceholderData' | 'error' | 'refetch'>,
  chart: ChartData['chart'],
  trend: ChartData['trend'],
): ChartData {
  return { call, chart, trend, isStale: isPlaceholderData, error, retry: refetch };
}
