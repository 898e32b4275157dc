import type { GetTrendReply } from '@gatehouse/sdk';
import type { ApiCall } from '../../api/call.ts';
import { withRange } from '../../app/analytics-search.ts';
import { TimeSeries } from '../../charts/time-series.tsx';
import { type Interval, intervalLabel } from '../../format/interval.ts';
import { COUNT_STEPS, count } from '../../format/number.ts';
import { Card } from '../../ui/card.tsx';
import { CopyCurl } from '../../ui/copy-curl.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { errorSeries } from './error-series.ts';
import * as styles from './errors-page.module.css';
import type { ErrorsSearch, Grouping } from './errors-search.ts';

const HEIGHT = 220;

export interface ErrorChartProps {
  readonly search: ErrorsSearch;
  readonly by: Grouping;
  readonly interval: Interval;
  readonly call: ApiCall;
  /** Undefined while it loads. */
  readonly reply: GetTrendReply | undefined;
  readonly isStale: boolean;
  readonly error: unknown;
  readonly onRetry: () => unknown;
  readonly onChange: (search: ErrorsSearch) => void;
}

/** Errors over time, stacked by group. A drag narrows the window. */
export function ErrorChart({
  search,
  by,
  interval,
  call,
  reply,
  isStale,
  error,
  onRetry,
  onChange,
}: ErrorChartProps) {
  return (
    <Card
      title="Errors over time"
      caption={`Each bar is ${intervalLabel(interval)}; drag to narrow.`}
      actions={<CopyCurl call={call} of="the chart" />}
    >
      {error && !reply ? <ErrorNotice error={error} onRetry={onRetry} /> : undefined}
      {!reply && !error ? <Skeleton height={HEIGHT + 30} /> : undefined}
      {reply && reply.groups.length === 0 ? (
        <EmptyState title="No errors in this window">
          Every request was answered, or its caller left. A longer window may have some.
        </EmptyState>
      ) : undefined}
      {reply && reply.groups.length > 0 ? (
        <div className={styles.chart} data-stale={isStale || undefined} aria-busy={isStale}>
          <TimeSeries
            label="Errors over time"
            kind="stacked"
            hasLegend
            height={HEIGHT}
            buckets={reply.buckets}
            widthMs={interval.ms}
            series={errorSeries(reply)}
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
