import type { RequestLogEntry } from '@gatehouse/sdk';
import { duration } from '../../format/duration.ts';
import { groupLabel } from '../../format/group-label.ts';
import { count } from '../../format/number.ts';
import { Amount } from '../../ui/amount.tsx';
import { Badge, StatusBadge } from '../../ui/badge.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { Foreign } from '../../ui/foreign.tsx';
import { Time } from '../../ui/time.tsx';

export const requestColumns: readonly Column<RequestLogEntry>[] = [
  { id: 'time', header: 'Time', width: '176px', cell: ({ timestamp }) => <Time at={timestamp} /> },
  {
    id: 'status',
    header: 'Status',
    width: '104px',
    cell: ({ status, request_count }) => (
      <>
        <StatusBadge status={status} />
        {request_count === undefined ? undefined : <> × {count(request_count)}</>}
      </>
    ),
  },
  {
    id: 'model',
    header: 'Model',
    isTitle: true,
    cell: ({ model }) => <Foreign text={model} none="not read" />,
  },
  {
    id: 'key',
    header: 'Key',
    cell: ({ key }) =>
      key === null ? (
        <Foreign text={null} none="unattributed" />
      ) : (
        <Foreign text={groupLabel('key', { group: key.id, name: key.name })} />
      ),
  },
  {
    id: 'project',
    header: 'Project',
    hideBelow: 'l',
    cell: ({ project }) =>
      project === null ? (
        <Foreign text={null} none="unattributed" />
      ) : (
        <Foreign text={groupLabel('project', { group: project.id, name: project.name })} />
      ),
  },
  {
    id: 'stream',
    header: 'Answer',
    width: '84px',
    hideBelow: 'l',
    cell: ({ stream }) => <Badge>{stream ? 'stream' : 'whole'}</Badge>,
  },
  {
    id: 'first',
    header: 'First token',
    width: '96px',
    align: 'end',
    hideBelow: 'm',
    cell: ({ metrics }) => (metrics.ttft_ms === null ? '–' : duration(metrics.ttft_ms)),
  },
  {
    id: 'total',
    header: 'Time taken',
    width: '96px',
    align: 'end',
    cell: ({ metrics }) => duration(metrics.total_ms),
  },
  {
    id: 'tokens',
    header: 'Tokens',
    width: '92px',
    align: 'end',
    cell: ({ metrics }) => (
      <span title={metrics.tokens_estimated ? 'Estimated: the provider reported no usage' : undefined}>
        {metrics.tokens_estimated ? '≈ ' : ''}
        {count(metrics.total_tokens)}
      </span>
    ),
  },
  {
    id: 'cost',
    header: 'PKR',
    width: '104px',
    align: 'end',
    cell: ({ financials }) => <Amount value={financials.cost_pkr} unit={false} />,
  },
];
