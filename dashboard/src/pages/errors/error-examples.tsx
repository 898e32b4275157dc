import type { RequestLogEntry } from '@gatehouse/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { apiCall, queryOf } from '../../api/call.ts';
import { groupLabel } from '../../format/group-label.ts';
import { count } from '../../format/number.ts';
import { StatusBadge } from '../../ui/badge.tsx';
import { Card } from '../../ui/card.tsx';
import { CopyCurl } from '../../ui/copy-curl.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Foreign } from '../../ui/foreign.tsx';
import { Time } from '../../ui/time.tsx';
import { listQuery } from '../requests/requests-search.ts';
import * as styles from './errors-page.module.css';
import { type ErrorsSearch, type Grouping, requestsSearch } from './errors-search.ts';

const LIMIT = 5;

const columns: readonly Column<RequestLogEntry>[] = [
  { id: 'time', header: 'Time', width: '176px', cell: ({ timestamp }) => <Time at={timestamp} /> },
  { id: 'status', header: 'Status', width: '80px', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    id: 'model',
    header: 'Model',
    isTitle: true,
    cell: ({ model }) => <Foreign text={model} none="not read" />,
  },
  {
    id: 'key',
    header: 'Key',
    cell: ({ key }) => (
      <Foreign
        text={key === null ? null : groupLabel('key', { group: key.id, name: key.name })}
        none="unattributed"
      />
    ),
  },
];

/** The newest errors of a group. A click opens one in the request log. */
export function ErrorExamples({
  search,
  by,
  group,
  refreshMs,
}: {
  search: ErrorsSearch;
  by: Grouping;
  group: string;
  refreshMs: number | false;
}) {
  const navigate = useNavigate();
  const target = requestsSearch(search, by, group);
  const call = apiCall('listRequests', { ...listQuery(target), limit: LIMIT });
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...queryOf(call),
    refetchInterval: refreshMs,
  });
  return (
    <Card
      title={by === 'status' ? `Newest errors with a status ${group.slice(0, 1)}xx` : 'Newest errors'}
      caption="Click one to see what happened."
      actions={
        <>
          <Link to="/requests" search={target} className={styles.more}>
            {data === undefined ? 'All in Requests' : `All ${count(data.total)} in Requests`}
          </Link>
          <CopyCurl call={call} of="the newest errors" />
        </>
      }
      isFlush
    >
      <DataTable
        label="Newest errors"
        columns={columns}
        rows={data?.requests}
        rowKey={({ req_id }) => req_id}
        onOpen={({ req_id }) => void navigate({ to: '/requests', search: { ...target, request: req_id } })}
        isStale={isPlaceholderData}
        error={error}
        onRetry={refetch}
        empty={<EmptyState title="No errors">None of these in this window.</EmptyState>}
      />
    </Card>
  );
}
