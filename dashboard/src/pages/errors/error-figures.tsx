import { useQuery } from '@tanstack/react-query';
import { apiCall, queryOf } from '../../api/call.ts';
import { SparkLine } from '../../charts/spark-line.tsx';
import { change } from '../../format/change.ts';
import { pickInterval } from '../../format/interval.ts';
import { count, countShort, percent, plural } from '../../format/number.ts';
import { viewerZone } from '../../format/zone.ts';
import { CopyCurl } from '../../ui/copy-curl.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Figure } from '../../ui/figure.tsx';
import * as styles from './errors-page.module.css';

export interface ErrorFiguresProps {
  /** Window and filters, as the API takes them. */
  readonly query: object;
  readonly windowMs: number;
  readonly refreshMs: number | false;
}

/** How many requests failed, and which share of all, against the window before. */
export function ErrorFigures({ query, windowMs, refreshMs }: ErrorFiguresProps) {
  const call = apiCall('getTrend', {
    ...query,
    interval: pickInterval(windowMs, 60).text,
    time_zone: viewerZone,
    figures: 'requests,errors',
  });
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...queryOf(call),
    refetchInterval: refreshMs,
  });
  if (error && !data)
    return (
      <div className={styles.figures}>
        <ErrorNotice error={error} onRetry={refetch} />
      </div>
    );
  const { requests = 0, errors = 0, per_bucket } = data?.total ?? {};
  const failed = per_bucket?.errors ?? [];
  const before = data?.previous;
  const rate = requests === 0 ? null : errors / requests;
  const rateBefore = before?.requests ? (before.errors ?? 0) / before.requests : null;
  const shares = (per_bucket?.requests ?? []).map((all, index) =>
    all === 0 ? null : (failed[index] ?? 0) / all,
  );
  return (
    <div className={styles.figures}>
      <Figure
        label="Errors"
        value={data && countShort(errors)}
        isStale={isPlaceholderData}
        exact={count(errors)}
        change={data && change(errors, before?.errors ?? null, 'less-is-better')}
        detail={data && (before ? `${count(before.errors ?? 0)} in the window before` : undefined)}
        chart={data ? <SparkLine values={failed} colour="--series-4" /> : <span />}
        action={<CopyCurl call={call} of="the errors" />}
      />
      <Figure
        label="Error rate"
        value={data && (rate === null ? null : percent(rate))}
        isStale={isPlaceholderData}
        change={data && change(rate, rateBefore, 'less-is-better')}
        detail={data && `of ${plural(requests, 'request')}`}
        chart={data ? <SparkLine values={shares} colour="--series-4" /> : <span />}
        action={<CopyCurl call={call} of="the error rate" />}
      />
    </div>
  );
}
