import type { KeyUsage } from '@gatehouse/sdk';
import { Link } from '@tanstack/react-router';
import type { AnalyticsSearch } from '../../app/analytics-search.ts';
import { rangeOf } from '../../app/search.ts';
import { groupLabel } from '../../format/group-label.ts';
import { count, percent } from '../../format/number.ts';
import type { Column } from '../../ui/data-table.tsx';
import { Foreign } from '../../ui/foreign.tsx';
import { Meter } from '../../ui/meter.tsx';
import { Time } from '../../ui/time.tsx';
import * as styles from './usage-columns.module.css';

export const usageColumns = (search: AnalyticsSearch): readonly Column<KeyUsage>[] => [
  {
    id: 'key',
    header: 'Key',
    isTitle: true,
    cell: ({ key }) => (
      <Link to="/requests" search={{ ...rangeOf({ ...search }), key: key.id }}>
        <Foreign text={groupLabel('key', { group: key.id, name: key.name })} />
      </Link>
    ),
  },
  {
    id: 'project',
    header: 'Project',
    hideBelow: 'm',
    cell: ({ project }) => (
      <Foreign
        text={project && groupLabel('project', { group: project.id, name: project.name })}
        none="unattributed"
      />
    ),
  },
  {
    id: 'requests',
    header: 'Requests',
    width: '112px',
    align: 'end',
    cell: ({ requests }) => count(requests),
  },
  {
    id: 'throttled',
    header: 'Throttled',
    width: '150px',
    align: 'end',
    cell: ({ throttled, requests }) =>
      throttled === 0 ? '–' : `${count(throttled)} (${percent(throttled / Math.max(1, requests))})`,
  },
  {
    id: 'peak',
    header: 'Busiest minute, of the limit',
    width: '280px',
    cell: (usage) => <Peak usage={usage} />,
  },
  {
    id: 'last',
    header: 'Last throttled',
    width: '150px',
    align: 'end',
    cell: ({ last_throttled_at }) =>
      last_throttled_at === null ? 'never' : <Time at={last_throttled_at} relative />,
  },
];

function Peak({ usage: { key, peak_rpm, rate_limit_rpm } }: { usage: KeyUsage }) {
  // A revoked key has no limit any more.
  if (rate_limit_rpm === null) return <>{count(peak_rpm)}</>;
  const words = `${count(peak_rpm)} of ${count(rate_limit_rpm)} a minute`;
  return (
    <span className={styles.peak}>
      <Meter
        label={`Busiest minute of ${key.name ?? 'a revoked key'}`}
        valueText={words}
        parts={[{ label: 'Requests', share: peak_rpm / rate_limit_rpm, kind: 'spent' }]}
      />
      <span className={styles.words}>{words}</span>
    </span>
  );
}
