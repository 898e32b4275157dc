import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { apiCall, queryOf } from '../../api/call.ts';
import { AnalyticsBar } from '../../app/analytics-bar.tsx';
import { searchRange } from '../../app/analytics-search.ts';
import { count, plural } from '../../format/number.ts';
import { Card } from '../../ui/card.tsx';
import { CopyCurl } from '../../ui/copy-curl.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Pagination } from '../../ui/pagination.tsx';
import { Switch } from '../../ui/switch.tsx';
import { ExportMenu } from './export-menu.tsx';
import { requestColumns } from './request-columns.tsx';
import { RequestFilters } from './request-filters.tsx';
import { RequestHistogram } from './request-histogram.tsx';
import { RequestPanel } from './request-panel.tsx';
import * as styles from './requests-page.module.css';
import { isFiltered, listQuery, type RequestsSearch } from './requests-search.ts';

const pageRoute = getRouteApi('/signed-in/requests');

const LIMIT = 50;
/** How often the newest requests are asked for while they are followed. */
const LIVE_MS = 2_000;

export function RequestsPage() {
  const search = pageRoute.useSearch();
  const navigate = pageRoute.useNavigate();
  const { offset = 0, request } = search;
  const range = searchRange(search);
  // A window that ended has no new requests, and later pages would move while they are read.
  const canFollow = (range.kind === 'relative' || range.to === undefined) && offset === 0;
  const isLive = search.live === true && canFollow;
  const show = (next: RequestsSearch, replace = false) =>
    void navigate({ search: next, resetScroll: false, replace });
  // Other conditions begin with their first page.
  const change = (next: RequestsSearch) => show({ ...next, offset: undefined, request: undefined });
  const query = listQuery(search);
  const call = apiCall('listRequests', { ...query, limit: LIMIT, offset });
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...queryOf(call),
    refetchInterval: isLive ? LIVE_MS : false,
  });
  return (
    <>
      <PageHeader title="Requests" actions={<AnalyticsBar search={search} onChange={change} />} />
      <RequestFilters search={search} onChange={change} />
      <RequestHistogram search={search} isLive={isLive} onZoom={(next) => show(next)} />
      <Card
        title={<Total total={data?.total} />}
        caption="Newest first. Click one to see what happened."
        actions={
          <>
            <Switch
              isOn={isLive}
              isDisabled={!canFollow}
              onChange={(live) => show({ ...search, live: live || undefined }, true)}
            >
              Live
            </Switch>
            <ExportMenu query={query} />
            <CopyCurl call={call} of="the requests" />
          </>
        }
        isFlush
      >
        <DataTable
          label="Requests"
          columns={requestColumns}
          rows={data?.requests}
          rowKey={({ req_id }) => req_id}
          onOpen={({ req_id }) => show({ ...search, request: req_id })}
          openKey={request}
          isStale={isPlaceholderData && !isLive}
          error={error}
          onRetry={refetch}
          empty={
            <EmptyState title="No requests">
              {isFiltered(search)
                ? 'None in this window passes the filters. Choose a longer window, or clear a filter.'
                : 'None in this window. Choose a longer one; new requests appear within a second.'}
            </EmptyState>
          }
        />
        <Pagination
          offset={offset}
          limit={LIMIT}
          shown={data?.requests.length ?? 0}
          total={data?.total}
          onOffset={(next) => show({ ...search, offset: next || undefined, request: undefined })}
        />
      </Card>
      <p className={styles.live} aria-live="polite">
        {isLive && data !== undefined ? `Following: ${plural(data.total, 'row')} in this window` : ''}
      </p>
      <RequestPanel
        id={request}
        known={data?.requests.find(({ req_id }) => req_id === request)}
        onClose={() => show({ ...search, request: undefined })}
        onFilter={(filter) => change({ ...search, ...filter })}
      />
    </>
  );
}

function Total({ total }: { total: number | undefined }) {
  return total === undefined ? 'Requests' : `Requests: ${count(total)}`;
}
