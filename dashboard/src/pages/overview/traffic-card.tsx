import { TimeSeries } from '../../charts/time-series.tsx';
import { DURATION_STEPS, duration } from '../../format/duration.ts';
import { intervalLabel } from '../../format/interval.ts';
import { COUNT_STEPS, countShort } from '../../format/number.ts';
import { Card } from '../../ui/card.tsx';
import { CopyCurl } from '../../ui/copy-curl.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Select } from '../../ui/select.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { METRIC_VIEWS } from './metrics.ts';
import type { Grouping } from './overview-choices.ts';
import * as styles from './traffic-card.module.css';
import type { ChartData, ChartRequest } from './use-chart.ts';

export interface TrafficCardProps extends Pick<ChartRequest, 'interval' | 'metric' | 'by'> {
  readonly data: ChartData;
  readonly onGroup: (by: Grouping) => void;
  readonly onZoom: (fromMs: number, toMs: number) => void;
  readonly onFilter: (by: Grouping, group: string) => void;
}

const HEIGHT = 290;

const GROUPING_OPTIONS = [
  { value: 'model', label: 'By model' },
  { value: 'key', label: 'By key' },
  { value: 'project', label: 'By project' },
  { value: 'nothing', label: 'In total' },
] as const;

/** One figure over time. */
export function TrafficCard({ data, interval, metric, by, onGroup, onZoom, onFilter }: TrafficCardProps) {
  const view = METRIC_VIEWS[metric];
  const { call, chart, isStale, error, retry } = data;
  return (
    <Card
      title={view.label}
      caption={`${view.caption}. Each ${view.kind === 'lines' ? 'point' : 'bar'} is ${intervalLabel(interval)}.`}
      actions={
        <>
          <Select label="Divide by" isCompact options={GROUPING_OPTIONS} value={by} onChange={onGroup} />
          <CopyCurl call={call} of="the chart" />
        </>
      }
    >
      {error && !chart ? <ErrorNotice error={error} onRetry={retry} /> : undefined}
      {!chart && !error ? <Skeleton height={HEIGHT + 30} /> : undefined}
      {chart?.series.length === 0 ? (
        <EmptyState title={metric === 'errors' ? 'No errors in this window' : 'Nothing in this window'} />
      ) : undefined}
      {chart && chart.series.length > 0 ? (
        <div className={styles.chart} data-stale={isStale || undefined} aria-busy={isStale}>
          <TimeSeries
            label={`${view.label} over time`}
            kind={by === 'nothing' && view.kind === 'stacked' ? 'bars' : view.kind}
            height={HEIGHT}
            buckets={chart.buckets}
            widthMs={interval.ms}
            series={chart.series}
            format={view.format}
            formatAxis={view.axis}
            axisSteps={
              view.axis === duration ? DURATION_STEPS : view.axis === countShort ? COUNT_STEPS : undefined
            }
            onZoom={onZoom}
            onFilter={by === 'nothing' ? undefined : (group) => onFilter(by, group)}
          />
        </div>
      ) : undefined}
    </Card>
  );
}
