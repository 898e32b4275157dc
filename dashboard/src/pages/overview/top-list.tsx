import { ListBulletIcon } from '@radix-ui/react-icons';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { apiCall, queryOf } from '../../api/call.ts';
import { type AnalyticsSearch, windowAndFilters } from '../../app/analytics-search.ts';
import { groupLabel } from '../../format/group-label.ts';
import { plural } from '../../format/number.ts';
import { Amount } from '../../ui/amount.tsx';
import { Card } from '../../ui/card.tsx';
import { CopyCurl } from '../../ui/copy-curl.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Foreign } from '../../ui/foreign.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import * as styles from './top-list.module.css';

export interface TopListProps {
  readonly title: string;
  readonly by: 'model' | 'key' | 'project';
  /** Window and filters, as the API takes them. */
  readonly query: object;
  readonly refreshMs: number | false;
  /** The filters of the page. */
  readonly search: AnalyticsSearch;
  /** A click on a row filters the page by it. Undefined: a second click shows everything again. */
  readonly onPick: (group: string | undefined) => void;
}

const MOST = 6;

/** The keys, models or projects that cost the most in the window. */
export function TopList({ title, by, query, refreshMs, search, onPick }: TopListProps) {
  // One bucket is enough: the costs over the whole window are wanted.
  const call = apiCall('getSpend', { ...query, group_by: by, interval: '3650d', limit: MOST });
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...queryOf(call),
    refetchInterval: refreshMs,
  });
  const most = data?.groups[0]?.cost_pkr ?? 0;
  return (
    <Card title={title} caption="By spend" actions={<CopyCurl call={call} of={title.toLowerCase()} />}>
      {error && !data ? <ErrorNotice error={error} onRetry={refetch} /> : undefined}
      {!data && !error ? <Loading /> : undefined}
      {data && data.groups.length === 0 ? <EmptyState title="Nothing was spent in this window" /> : undefined}
      <ol className={styles.list} aria-busy={isPlaceholderData}>
        {data?.groups.map((each) => (
          <Row key={each.group} share={most === 0 ? 0 : each.cost_pkr / most} amount={each.cost_pkr}>
            {each.group === null ? (
              <Foreign text={null} none="unattributed" />
            ) : (
              <Group
                by={by}
                group={each.group}
                label={groupLabel(by, each)}
                search={search}
                onPick={onPick}
              />
            )}
          </Row>
        ))}
        {data?.other && data.other.cost_pkr > 0 ? (
          <Row
            share={Math.min(1, most === 0 ? 0 : data.other.cost_pkr / most)}
            amount={data.other.cost_pkr}
            isOther
          >
            {plural(data.other.groups, 'other')}
          </Row>
        ) : undefined}
      </ol>
    </Card>
  );
}

/** A name, of which a click narrows the page, and a link to its requests in the same window and filters. */
function Group({
  by,
  group,
  label,
  search,
  onPick,
}: Pick<TopListProps, 'by' | 'search' | 'onPick'> & { group: string; label: string }) {
  const isPicked = search[by] === group;
  return (
    <>
      <button
        type="button"
        className={styles.name}
        aria-pressed={isPicked}
        aria-label={`Filter the page by ${label}`}
        onClick={() => onPick(isPicked ? undefined : group)}
      >
        <Foreign text={label} />
      </button>
      <Link
        to="/requests"
        search={{ ...windowAndFilters(search), [by]: group }}
        className={styles.requests}
        aria-label={`Show the requests of ${label}`}
        title="Show its requests"
      >
        <ListBulletIcon />
      </Link>
    </>
  );
}

function Row({
  share,
  amount,
  isOther = false,
  children,
}: {
  share: number;
  amount: number;
  isOther?: boolean;
  children: ReactNode;
}) {
  return (
    <li className={styles.row} data-other={isOther || undefined}>
      <span className={styles.bar} style={{ width: `${share * 100}%` }} />
      <span className={styles.label}>{children}</span>
      <span className={styles.amount}>
        <Amount value={amount} />
      </span>
    </li>
  );
}

function Loading() {
  return (
    <div className={styles.list} aria-busy="true">
      {[90, 70, 62, 40, 34, 20].map((width) => (
        <div key={width} className={styles.row}>
          <Skeleton width={`${width}%`} height={16} />
        </div>
      ))}
    </div>
  );
}
