import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { apiCall, queryOf } from '../../api/call.ts';
import { AnalyticsBar } from '../../app/analytics-bar.tsx';
import { analyticsQuery } from '../../app/analytics-search.ts';
import { count } from '../../format/number.ts';
import { Card } from '../../ui/card.tsx';
import { CopyCurl } from '../../ui/copy-curl.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Pagination } from '../../ui/pagination.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { NameField } from './name-field.tsx';
import { sessionColumns } from './session-columns.tsx';
import * as styles from './sessions-page.module.css';
import { DEFAULT_NAME, type SessionsSearch, SORTS, validateSessions } from './sessions-search.ts';

const pageRoute = getRouteApi('/signed-in/sessions');

const LIMIT = 50;

export function SessionsPage() {
  const search = pageRoute.useSearch();
  const navigate = pageRoute.useNavigate();
  const { name = DEFAULT_NAME, q, sort = SORTS[0], offset = 0 } = search;
  const show = (next: SessionsSearch) =>
    void navigate({ search: validateSessions({ ...next }), resetScroll: false });
  // Other conditions begin with their first page.
  const change = (next: SessionsSearch) => show({ ...next, offset: undefined });
  const call = apiCall('listSessions', {
    ...analyticsQuery(search),
    metadata: name,
    ...(q === undefined ? {} : { search: q }),
    ...(sort === SORTS[0] ? {} : { sort }),
    limit: LIMIT,
    offset,
  });
  const { data, error, isPlaceholderData, refetch } = useQuery(queryOf(call));
  return (
    <>
      <PageHeader
        title="Sessions"
        lead="The requests of one conversation or run, together: what a session of a coding agent cost and how long it took."
        actions={<AnalyticsBar search={search} onChange={change} />}
      />
      <div className={styles.bar}>
        <NameField key={name} name={name} onChange={(next) => change({ ...search, name: next })} />
        <div className={styles.search}>
          <SearchField
            label="Search sessions"
            placeholder="Part of the session"
            value={q ?? ''}
            onChange={(text) => change({ ...search, q: text })}
            isMain
          />
        </div>
      </div>
      <Card
        title={data === undefined ? 'Sessions' : `Sessions: ${count(data.total)}`}
        caption="Of the requests in this window. A session leads to its requests."
        actions={<CopyCurl call={call} of="the sessions" />}
        isFlush
      >
        <DataTable
          label="Sessions"
          columns={sessionColumns(search)}
          rows={data?.sessions}
          rowKey={({ session }) => session}
          isStale={isPlaceholderData}
          error={error}
          onRetry={refetch}
          sort={{ column: sort, direction: 'descending' }}
          onSort={({ column }) => change({ ...search, sort: SORTS.find((each) => each === column) })}
          empty={
            <EmptyState title="No sessions in this window">
              Claude Code and Codex name theirs by themselves. Any client can: send a header{' '}
              <code>X-SVC-Meta-Session-Id</code> with every request of one conversation.
            </EmptyState>
          }
        />
        <Pagination
          offset={offset}
          limit={LIMIT}
          shown={data?.sessions.length ?? 0}
          total={data?.total}
          onOffset={(next) => show({ ...search, offset: next || undefined })}
        />
      </Card>
    </>
  );
}
