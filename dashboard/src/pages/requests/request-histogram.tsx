import { useQuery } from '@tanstack/react-query';
import { apiCall, queryOf } from '../../api/call.ts';
import { searchRange, withRange } from '../../app/analytics-search.ts';
import { now } from '../../browser/clock.ts';
import { TimeSeries } from '../../charts/time-series.tsx';
import { intervalLabel, pickInterval } from '../../format/interval.ts';
import { count, plural } from '../../format/number.ts';
import { rangeMs } from '../../format/range.ts';
import { viewerZone } from '../../format/zone.ts';
import { Card } from '../../ui/card.tsx';
import { CopyCurl } from '../../ui/copy-curl.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { histogramSeries } from './histogram-series.ts';
import * as styles from './requests-page.module.css';
import { type RequestsSearch, trendQuery } from './requests-search.ts';

const HEIGHT = 96;
const LIVE_MS = 10_000;

/** The requests of the list over time. A drag narrows the window to what was dragged over. */
export function RequestHistogram({
  search,
  isLive,
  onZoom,
}: {
  search: RequestsSearch;
  isLive: boolean;
  onZoom: (search: RequestsSearch) => void;
}) {
  const interval = pickInterval(rangeMs(searchRange(search), now().getTime()), 90);
  const call = apiCall('getTrend', {
    ...trendQuery(search),
    interval: interval.text,
    time_zone: viewerZone,
    figures: 'requests,rows,errors',
    previous: 'false',
  });
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...queryOf(call),
    refetchInterval: isLive ? LIVE_MS : false,
  });
  const { requests = 0, rows = 0, errors = 0 } = data?.total ?? {};
  return (
    <div className={styles.histogram} data-stale={isPlaceholderData || undefined}>
      <Card
        title="Over time"
        caption={
          data === undefined
            ? 'Requests, and errors among them'
            : `${plural(requests, 'request')}, ${count(errors)} with an error${requests === rows ? '' : `; rejected ones share ${plural(rows, 'row')}`}. Each bar is ${intervalLabel(interval)}; drag to narrow.`
        }
        actions={<CopyCurl call={call} of="the chart" />}
      >
        {error && !data ? <ErrorNotice error={error} onRetry={refetch} /> : undefined}
        {data === undefined ? (
          error ? undefined : (
            <Skeleton height={HEIGHT} />
          )
        ) : (
          <TimeSeries
            label="Requests over time"
            kind="stacked"
            isBare
            height={HEIGHT}
            buckets={data.buckets}
            widthMs={interval.ms}
            series={histogramSeries(data.total)}
            format={count}
            onZoom={(fromMs, toMs) =>
              onZoom(
                withRange(
                  { ...search, offset: undefined, request: undefined, live: undefined },
                  { kind: 'fixed', from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() },
                ),
              )
            }
          />
        )}
      </Card>
    </div>
  );
}
