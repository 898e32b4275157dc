import type { GetTrendReply } from '@gatehouse/sdk';
import { useQuery } from '@tanstack/react-query';
import { type ApiCall, apiCall, queryOf } from '../../api/call.ts';
import { count, percent, plural } from '../../format/number.ts';
import { Card } from '../../ui/card.tsx';
import { CopyCurl } from '../../ui/copy-curl.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { errorHelp } from './error-help.ts';
import * as styles from './errors-page.module.css';
import type { Grouping } from './errors-search.ts';
import { GroupName } from './group-words.tsx';

type Group = GetTrendReply['groups'][number];

export interface ErrorTableProps {
  readonly call: ApiCall;
  readonly by: Grouping;
  /** Window and filters, as the API takes them. */
  readonly query: object;
  /** Undefined while it loads. */
  readonly reply: GetTrendReply | undefined;
  readonly isStale: boolean;
  readonly error: unknown;
  readonly onRetry: () => unknown;
  /** Null for the errors without a group. */
  readonly chosen: string | null | undefined;
  readonly onChoose: (group: string | null) => void;
}

const TITLES: Readonly<Record<Grouping, string>> = {
  error_code: 'Codes',
  status: 'Statuses',
  model: 'Models',
  key: 'Keys',
};

const HEADERS: Readonly<Record<Grouping, string>> = {
  error_code: 'Code',
  status: 'Status',
  model: 'Model',
  key: 'Key',
};

/** The groups, the one with the most errors first. A click explains one. */
export function ErrorTable({
  call,
  by,
  query,
  reply,
  isStale,
  error,
  onRetry,
  chosen,
  onChoose,
}: ErrorTableProps) {
  const hasRate = by === 'model' || by === 'key';
  // All requests of the groups, those without an error as well.
  const all = useQuery({
    ...queryOf(
      apiCall('getTrend', {
        ...query,
        // One bucket is enough: the counts over the whole window are wanted.
        interval: '3650d',
        figures: 'requests',
        group_by: by,
        limit: 100,
        previous: 'false',
      }),
    ),
    enabled: hasRate,
  });
  const requests = new Map(all.data?.groups.map((each) => [each.group, each.requests ?? 0]));
  const total = reply?.total.requests ?? 0;
  const columns: Column<Group>[] = [
    {
      id: 'group',
      header: HEADERS[by],
      isTitle: true,
      cell: ({ group, name }) => <GroupName by={by} group={group} name={name} />,
    },
  ];
  if (by === 'error_code')
    columns.push({
      id: 'meaning',
      header: 'Meaning',
      hideBelow: 'm',
      width: '44%',
      cell: ({ group }) => (group === null ? '–' : <Phrase text={errorHelp(group).title} />),
    });
  columns.push(
    {
      id: 'errors',
      header: 'Errors',
      width: '88px',
      align: 'end',
      cell: (each) => count(each.requests ?? 0),
    },
    {
      id: 'share',
      header: 'Share of errors',
      width: '140px',
      align: 'end',
      cell: (each) => <Share value={total === 0 ? 0 : (each.requests ?? 0) / total} />,
    },
  );
  if (hasRate)
    columns.push({
      id: 'rate',
      header: 'Error rate',
      width: '100px',
      align: 'end',
      cell: ({ group, requests: errors = 0 }) => {
        const of = requests.get(group);
        return of === undefined ? (
          '–'
        ) : (
          <span title={`of ${plural(of, 'request')}`}>{percent(errors / of)}</span>
        );
      },
    });
  return (
    <Card
      title={reply === undefined ? TITLES[by] : `${TITLES[by]}: ${count(groupsOf(reply))}`}
      caption={
        reply?.other
          ? `${plural(reply.other.groups, 'other')} with ${plural(reply.other.requests ?? 0, 'error')} are not listed.`
          : 'Most errors first. Click one to see what to do.'
      }
      actions={<CopyCurl call={call} of="the groups" />}
      isFlush
    >
      <DataTable
        label={TITLES[by]}
        columns={columns}
        rows={reply?.groups}
        rowKey={({ group }) => rowKey(group)}
        openKey={chosen === undefined ? undefined : rowKey(chosen)}
        onOpen={({ group }) => onChoose(group)}
        isStale={isStale}
        error={error}
        onRetry={onRetry}
        empty={<EmptyState title="No errors">None in this window passes the filters.</EmptyState>}
      />
    </Card>
  );
}

/** Null is none of the texts that a group can have. */
function rowKey(group: string | null): string {
  return group === null ? 'unknown' : `group ${group}`;
}

function groupsOf({ groups, other }: GetTrendReply): number {
  return groups.length + (other?.groups ?? 0);
}

function Phrase({ text }: { text: string }) {
  return (
    <span className={styles.phrase} title={text}>
      {text}
    </span>
  );
}

function Share({ value }: { value: number }) {
  return (
    <span className={styles.share}>
      <span className={styles.track} aria-hidden="true">
        <span className={styles.bar} style={{ width: `${value * 100}%` }} />
      </span>
      <span className={styles.percent}>{percent(value)}</span>
    </span>
  );
}
