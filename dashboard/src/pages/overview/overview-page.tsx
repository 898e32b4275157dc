import { useQuery } from '@tanstack/react-query';
import { apiCall, queryOf } from '../../api/call.ts';
import { AnalyticsBar } from '../../app/analytics-bar.tsx';
import { analyticsQuery, searchRange, withRange } from '../../app/analytics-search.ts';
import { TimeSeries } from '../../charts/time-series.tsx';
import { intervalQuery, pickInterval } from '../../format/interval.ts';
import { pkr, pkrShort } from '../../format/pkr.ts';
import { rangeMs } from '../../format/range.ts';
import { viewerZone } from '../../format/zone.ts';
import { Card } from '../../ui/card.tsx';
import { CopyCurl } from '../../ui/copy-curl.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { BudgetCard } from './budget-card.tsx';
import * as styles from './overview-page.module.css';
import { type OverviewSearch, overviewRoute } from './overview-route.ts';
import { TopList } from './top-list.tsx';

export function OverviewPage() {
  const search = overviewRoute.useSearch();
  const navigate = overviewRoute.useNavigate();
  const change = (next: OverviewSearch) => void navigate({ search: next });
  const query = analyticsQuery(search);
  const interval = pickInterval(rangeMs(searchRange(search), Date.now()), 100);
  const call = apiCall('getSpend', {
    ...query,
    group_by: 'model',
    ...intervalQuery(interval, viewerZone),
    limit: 7,
  });
  const { data } = useQuery(queryOf(call));
  return (
    <>
      <PageHeader title="Overview" actions={<AnalyticsBar search={search} onChange={change} />} />
      <div className={styles.columns}>
        <Card title="Spend" caption="By model" actions={<CopyCurl call={call} of="spend by model" />}>
          {data ? (
            <TimeSeries
              label="Spend by model"
              kind="stacked"
              buckets={data.buckets}
              widthMs={interval.ms}
              series={[
                ...data.groups.map(({ group, name, costs_pkr, cost_pkr }) => ({
                  id: group ?? '',
                  label: name ?? group ?? 'unattributed',
                  values: costs_pkr,
                  total: cost_pkr,
                  canFilter: group !== null,
                })),
                ...(data.other
                  ? [
                      {
                        id: 'other',
                        label: `${data.other.groups} others`,
                        values: data.other.costs_pkr,
                        total: data.other.cost_pkr,
                        colour: 'other' as const,
                        canFilter: false,
                      },
                    ]
                  : []),
              ]}
              format={pkr}
              formatAxis={pkrShort}
              onZoom={(fromMs, toMs) =>
                change(
                  withRange(search, {
                    kind: 'fixed',
                    from: new Date(fromMs).toISOString(),
                    to: new Date(toMs).toISOString(),
                  }),
                )
              }
              onFilter={(model) => change({ ...search, model })}
            />
          ) : undefined}
        </Card>
        <BudgetCard />
      </div>
      <div className={styles.tops}>
        <TopList
          title="Top models"
          by="model"
          query={query}
          onPick={(model) => change({ ...search, model })}
        />
        <TopList title="Top keys" by="key" query={query} onPick={(key) => change({ ...search, key })} />
        <TopList
          title="Top projects"
          by="project"
          query={query}
          onPick={(project) => change({ ...search, project })}
        />
      </div>
    </>
  );
}
