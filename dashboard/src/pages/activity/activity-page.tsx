import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { apiCall, queryOf } from '../../api/call.ts';
import { ACTIVITY_KINDS } from '../../format/activity-sentence.ts';
import { Card } from '../../ui/card.tsx';
import { CopyCurl } from '../../ui/copy-curl.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { FilterBar } from '../../ui/filter-bar.tsx';
import { FilterSelect } from '../../ui/filter-select.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Pagination } from '../../ui/pagination.tsx';
import { Time } from '../../ui/time.tsx';
import * as styles from './activity-line.module.css';
import { ActivityLine } from './activity-line.tsx';
import type { ActivitySearch } from './activity-search.ts';
import { type KeyedEvent, keyed } from './keyed-events.ts';

const pageRoute = getRouteApi('/signed-in/activity');

const LIMIT = 50;
const membersCall = apiCall('listMembers', {});

const columns: readonly Column<KeyedEvent>[] = [
  { id: 'event', header: 'Event', cell: (event) => <ActivityLine event={event} /> },
  { id: 'when', header: 'When', width: '190px', cell: ({ timestamp }) => <Time at={timestamp} /> },
  {
    id: 'address',
    header: 'From',
    width: '190px',
    cell: ({ source_ip }) => <code>{source_ip}</code>,
    hideBelow: 'm',
  },
];

export function ActivityPage() {
  const search = pageRoute.useSearch();
  const navigate = pageRoute.useNavigate();
  const { action, actor, offset = 0, until } = search;
  const call = apiCall('listActivity', { action, actor, limit: LIMIT, offset, until });
  const { data, error, isPlaceholderData, refetch } = useQuery(queryOf(call));
  const members = useQuery(queryOf(membersCall));
  const show = (next: ActivitySearch) => void navigate({ search: next });
  const page = (next: number) =>
    show(
      next === 0
        ? { action, actor }
        : { action, actor, offset: next, until: until ?? data?.events[0]?.timestamp },
    );
  const isFiltered = action !== undefined || actor !== undefined;
  return (
    <>
      <PageHeader
        title="Activity"
        lead="Who changed what, newest first. Nobody can change or delete an entry; each is kept for a year unless your operator chose otherwise."
      />
      <div className={styles.filters}>
        <FilterBar>
          <FilterSelect
            label="Event"
            options={ACTIVITY_KINDS}
            value={action}
            onChange={(value) =>
              show({ actor, action: ACTIVITY_KINDS.find((kind) => kind.value === value)?.value })
            }
          />
          <FilterSelect
            label="Account"
            options={(members.data?.members ?? []).map(({ email, role }) => ({
              value: email,
              label: email,
              detail: role,
            }))}
            value={actor}
            onChange={(value) => show({ action, actor: value })}
          />
        </FilterBar>
      </div>
      <Card title="Events" actions={<CopyCurl call={call} of="the activity log" />} isFlush>
        <DataTable
          label="Activity"
          columns={columns}
          rows={data && keyed(data.events)}
          rowKey={({ key }) => key}
          isStale={isPlaceholderData}
          error={error}
          onRetry={refetch}
          empty={
            <EmptyState title={isFiltered ? 'No such event' : 'Nothing happened yet'}>
              {isFiltered
                ? 'Clear a filter to see more.'
                : 'Sign-ins and changes appear here as they happen.'}
            </EmptyState>
          }
        />
        <Pagination offset={offset} limit={LIMIT} shown={data?.events.length ?? 0} onOffset={page} />
      </Card>
    </>
  );
}
