import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { apiCall, queryOf } from '../../api/call.ts';
import { AnalyticsBar } from '../../app/analytics-bar.tsx';
import { analyticsQuery, searchRange, withRange } from '../../app/analytics-search.ts';
import { now } from '../../browser/clock.ts';
import { isPhone } from '../../browser/interfaces.ts';
import { pickInterval } from '../../format/interval.ts';
import { rangeMs } from '../../format/range.ts';
import { rangeLabel } from '../../format/range-label.ts';
import { viewerZone } from '../../format/zone.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { BudgetCard } from './budget-card.tsx';
import { Figures } from './figures.tsx';
import { FirstRequest } from './first-request.tsx';
import { figuresBeside, isQuantile, METRIC_VIEWS } from './metrics.ts';
import { GROUPINGS, type Grouping, METRICS, type Metric } from './overview-choices.ts';
import * as styles from './overview-page.module.css';
import type { OverviewSearch } from './overview-search.ts';
import { TopList } from './top-list.tsx';
import { TrafficCard } from './traffic-card.tsx';
import { useChart } from './use-chart.ts';
import { useIsFresh } from './use-is-fresh.ts';

const pageRoute = getRouteApi('/signed-in/');

/** A window that ends now is loaded again this often while it is looked at. */
const REFRESH_MS = 60_000;

/** Bars need more room than points, many lines are read more easily with fewer, and a phone has less room. */
function mostPoints(metric: Metric, by: Grouping): number {
  const isNarrow = isPhone();
  const isLine = METRIC_VIEWS[metric].kind === 'lines' && by === 'nothing';
  return isLine ? (isNarrow ? 100 : 200) : isNarrow ? 48 : 100;
}

export function OverviewPage() {
  const search = pageRoute.useSearch();
  const navigate = pageRoute.useNavigate();
  const change = (next: OverviewSearch) => void navigate({ search: next, resetScroll: false });
  const range = searchRange(search);
  const windowMs = rangeMs(range, now().getTime());
  const metric = search.metric ?? METRICS[0];
  const by = search.by ?? GROUPINGS[0];
  const query = analyticsQuery(search);
  const refreshMs = range.kind === 'relative' || range.to === undefined ? REFRESH_MS : false;
  const interval = pickInterval(windowMs, mostPoints(metric, by));
  const chart = useChart({ query, interval, metric, by, refreshMs });
  // Spark lines are small; bars need room, lines show more.
  const spark = { ...query, interval: pickInterval(windowMs, 60).text, time_zone: viewerZone };
  const everything = apiCall('getTrend', spark);
  // Quantiles take the longest. Those of the chart are not asked for twice, unless they are here already.
  const isKnown = useQueryClient().getQueryData(queryOf(everything).queryKey) !== undefined;
  const isShared = isQuantile(metric) && !isKnown;
  const call = isShared ? apiCall('getTrend', { ...spark, figures: figuresBeside(metric) }) : everything;
  const isOfChart = (one: Metric) => isShared && METRIC_VIEWS[one].figures === METRIC_VIEWS[metric].figures;
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...queryOf(call),
    refetchInterval: refreshMs,
  });
  const hasFilter = search.project !== undefined || search.key !== undefined || search.model !== undefined;
  const isFresh = useIsFresh(data?.total.requests === 0 && !hasFilter);
  if (isFresh) return <FirstRequest />;
  return (
    <>
      <PageHeader title="Overview" actions={<AnalyticsBar search={search} onChange={change} />} />
      {error && !data ? (
        <div className={styles.error}>
          <ErrorNotice error={error} onRetry={refetch} />
        </div>
      ) : (
        <Figures
          sourceOf={(one) => (isOfChart(one) ? chart : { call, trend: data, isStale: isPlaceholderData })}
          chosen={metric}
          onChoose={(next) => change({ ...search, metric: next === METRICS[0] ? undefined : next })}
        />
      )}
      <div className={styles.columns}>
        <TrafficCard
          data={chart}
          interval={interval}
          metric={metric}
          by={by}
          onGroup={(next) => change({ ...search, by: next === GROUPINGS[0] ? undefined : next })}
          onZoom={(fromMs, toMs) => {
            const [from, to] = [new Date(fromMs).toISOString(), new Date(toMs).toISOString()];
            change(withRange(search, { kind: 'fixed', from, to }));
          }}
          onFilter={(grouping, group) => change({ ...search, [grouping]: group })}
        />
        <BudgetCard
          pace={
            hasFilter || isPlaceholderData || data?.total.cost_pkr === undefined
              ? undefined
              : { costPkr: data.total.cost_pkr, windowMs, window: rangeLabel(range, now()) }
          }
        />
      </div>
      <div className={styles.tops}>
        <TopList
          title="Top models"
          by="model"
          query={query}
          refreshMs={refreshMs}
          search={search}
          onPick={(model) => change({ ...search, model })}
        />
        <TopList
          title="Top keys"
          by="key"
          query={query}
          refreshMs={refreshMs}
          search={search}
          onPick={(key) => change({ ...search, key })}
        />
        <TopList
          title="Top projects"
          by="project"
          query={query}
          refreshMs={refreshMs}
          search={search}
          onPick={(project) => change({ ...search, project })}
        />
      </div>
    </>
  );
}
