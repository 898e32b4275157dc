import { useQuery } from '@tanstack/react-query';
import { apiCall, queryOf } from '../../api/call.ts';
import { analyticsQuery } from '../../app/analytics-search.ts';
import { isPhone } from '../../browser/interfaces.ts';
import { pickInterval } from '../../format/interval.ts';
import { viewerZone } from '../../format/zone.ts';
import { ErrorChart } from './error-chart.tsx';
import { ErrorGroupDetails } from './error-group-details.tsx';
import { ErrorTable } from './error-table.tsx';
import * as styles from './errors-page.module.css';
import type { ErrorsSearch, Grouping } from './errors-search.ts';

export interface ErrorGroupsProps {
  readonly search: ErrorsSearch;
  readonly by: Grouping;
  readonly windowMs: number;
  readonly refreshMs: number | false;
  readonly onChange: (search: ErrorsSearch) => void;
}

/** The errors by one property: over time, how many, and the one that is chosen. */
export function ErrorGroups({ search, by, windowMs, refreshMs, onChange }: ErrorGroupsProps) {
  const query = analyticsQuery(search);
  const interval = pickInterval(windowMs, isPhone() ? 48 : 100);
  // One call for the chart and the table: each would count the same errors.
  const call = apiCall('getTrend', {
    ...query,
    error_code: 'any',
    interval: interval.text,
    time_zone: viewerZone,
    figures: 'requests',
    group_by: by,
    limit: 100,
    previous: 'false',
  });
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...queryOf(call),
    refetchInterval: refreshMs,
  });
  const choose = (group: string | null) =>
    onChange({ ...search, group: group ?? undefined, unknown: group === null || undefined });
  const chosen =
    search.unknown === true
      ? null
      : (search.group ?? (data === undefined ? undefined : data.groups[0]?.group));
  // The chart says so already.
  const isEmpty = data?.groups.length === 0 && chosen === undefined;
  return (
    <div className={styles.groups}>
      <ErrorChart
        search={search}
        by={by}
        interval={interval}
        call={call}
        reply={data}
        isStale={isPlaceholderData}
        error={error}
        onRetry={refetch}
        onChange={onChange}
      />
      {isEmpty ? undefined : (
        <div className={styles.columns}>
          <ErrorTable
            call={call}
            by={by}
            query={query}
            reply={data}
            isStale={isPlaceholderData}
            error={error}
            onRetry={refetch}
            chosen={chosen}
            onChoose={choose}
          />
          {chosen === undefined ? undefined : (
            <ErrorGroupDetails
              search={search}
              by={by}
              group={chosen}
              known={data?.groups.find(({ group }) => group === chosen)}
              total={data?.total.requests}
              refreshMs={refreshMs}
              onChange={onChange}
            />
          )}
        </div>
      )}
    </div>
  );
}
