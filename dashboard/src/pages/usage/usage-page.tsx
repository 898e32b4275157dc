import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { apiCall, queryOf } from '../../api/call.ts';
import { AnalyticsBar } from '../../app/analytics-bar.tsx';
import { analyticsQuery, searchRange } from '../../app/analytics-search.ts';
import { now } from '../../browser/clock.ts';
import { DEFAULT_RANGE, rangeQuery } from '../../format/range.ts';
import { rangeLabel } from '../../format/range-label.ts';
import { Card } from '../../ui/card.tsx';
import { CopyCurl } from '../../ui/copy-curl.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usageColumns } from './usage-columns.tsx';

const pageRoute = getRouteApi('/signed-in/usage');

export function UsagePage() {
  const search = pageRoute.useSearch();
  const navigate = pageRoute.useNavigate();
  const chosen = searchRange(search);
  // The API counts throttling back from now only.
  const range = chosen.kind === 'relative' ? chosen : DEFAULT_RANGE;
  const { from: _from, to: _to, ...filters } = analyticsQuery(search);
  const call = apiCall('getUsageThrottling', { ...filters, ...rangeQuery(range) });
  const { data, error, isPlaceholderData, refetch } = useQuery(queryOf(call));
  return (
    <>
      <PageHeader
        title="Usage and throttling"
        lead="Which keys come near their rate limit, and which were held back by it."
        actions={
          <AnalyticsBar
            search={search}
            onChange={(next) => void navigate({ search: next, resetScroll: false })}
          />
        }
      />
      {chosen.kind === 'relative' ? undefined : (
        <Notice>Throttling is counted back from now. Shown: {rangeLabel(range, now())}.</Notice>
      )}
      <Card
        title="Keys"
        caption="Most rejected first. A provider’s own 429 does not count here: see Errors."
        actions={<CopyCurl call={call} of="the usage" />}
        isFlush
      >
        <DataTable
          label="Usage by key"
          columns={usageColumns(search)}
          rows={data?.keys}
          rowKey={({ key }) => key.id}
          isStale={isPlaceholderData}
          error={error}
          onRetry={refetch}
          empty={
            <EmptyState title="No requests in this window">
              Keys appear here with their first request.
            </EmptyState>
          }
        />
      </Card>
    </>
  );
}
