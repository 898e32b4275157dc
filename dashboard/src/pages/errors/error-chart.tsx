import { useQuery } from '@tanstack/react-query';
import { apiCall, queryOf } from '../../api/call.ts';
import { analyticsQuery, withRange } from '../../app/analytics-search.ts';
import { TimeSeries } from '../../charts/time-series.tsx';
import { intervalLabel, pickInterval } from '../../format/interval.ts';
import { COUNT_STEPS, count } from '../../format/number.ts';
import { viewerZone } from '../../format/zone.ts';
import { Card } from '../../ui/card.tsx';
import { CopyCurl } from '../../ui/copy-curl.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import type { ErrorGroupsProps } from './error-groups.tsx';
import { errorSeries } from './error-series.ts';
import * as styles from './errors-page.module.css';

const HEIGHT = 220;
/** Seven groups and the others are as many as a chart can tell apart. */
const MOST_GROUPS = 7;

/** Errors over time, stacked by group. A drag narrows the window. */
export function ErrorChart({ search, by, windowMs, refreshMs, onChange }: ErrorGroupsProps) {
  const interval = pickInterval(windowMs, matchMedia('(max-width: 640px)').matches ? 48 : 100);
  const call = apiCall('getTrend', {
    ...analyticsQuery(search),
    error_code: 'any',
    interval: interval.text,
    time_zone: viewerZone,
    figures: 'requests',
    group_by: by,
    limit: MOST_GROUPS,
    previous: 'false',
  });
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...queryOf(call),
    refetchInterval: refreshMs,
  });
  return (
    <Card
      title="Errors over time"
      caption={`Each bar is ${intervalLabel(interval)}; drag to narrow.`}
      actions={<CopyCurl call={call} of="the chart" />}
    >
      {error && !data ? <ErrorNotice error={error} onRetry={refetch} /> : undefined}
      {!data && !error ? <Skeleton height={HEIGHT + 30} /> : undefined}
      {data && data.groups.length === 0 ? (
        <EmptyState title="No errors in this window">
          Every request was answered, or its caller left. A longer window may have some.
        </EmptyState>
      ) : undefined}
      {data && data.groups.length > 0 ? (
        <div
          className={styles.chart}
          data-stale={isPlaceholderData || undefined}
          aria-busy={isPlaceholderData}
        >
          <TimeSeries
            label="Errors over time"
            kind="stacked"
            hasLegend
            height={HEIGHT}
            buckets={data.buckets}
            widthMs={interval.ms}
            series={errorSeries(data)}
            format={count}
            axisSteps={COUNT_STEPS}
            onZoom={(fromMs, toMs) =>
              onChange(
                withRange(search, {
                  kind: 'fixed',
                  from: new Date(fromMs).toISOString(),
                  to: new Date(toMs).toISOString(),
                }),
              )
            }
            onFilter={
              by === 'model' || by === 'key'
                ? (group) => onChange({ ...search, [by]: group, group: undefined, unknown: undefined })
                : undefined
            }
          />
        </div>
      ) : undefined}
    </Card>
  );
}
