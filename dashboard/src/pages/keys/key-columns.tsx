import { count } from '../../format/number.ts';
import { Badge } from '../../ui/badge.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { Foreign } from '../../ui/foreign.tsx';
import * as list from '../../ui/list-page.module.css';
import { Skeleton } from '../../ui/skeleton.tsx';
import { SpendBar } from '../../ui/spend-bar.tsx';
import { Time } from '../../ui/time.tsx';
import { type KeyAction, KeyMenu } from './key-actions.tsx';
import { KeyExpiry } from './key-expiry.tsx';
import * as styles from './keys.module.css';
import { ENVIRONMENTS } from './keys-search.ts';
import type { KeyRow } from './use-keys.ts';

export function environmentLabel(environment: KeyRow['environment']): string {
  return ENVIRONMENTS.find(({ value }) => value === environment)?.label ?? environment;
}

export function keyColumns(
  projectOf: (id: string) => string | undefined,
  isBudgetLoading: boolean,
  onAction: (row: KeyRow, action: KeyAction) => void,
): readonly Column<KeyRow>[] {
  return [
    {
      id: 'name',
      header: 'Key',
      cell: ({ name, key_prefix }) => (
        <span className={list.identity}>
          <Foreign text={name} />
          <code className={styles.prefix}>{key_prefix}…</code>
        </span>
      ),
    },
    {
      id: 'credit',
      header: 'Spent of its limit',
      width: '220px',
      cell: ({ name, budget }) =>
        budget === undefined ? (
          isBudgetLoading ? (
            <Skeleton width={140} />
          ) : (
            <span className={list.muted}>unknown</span>
          )
        ) : (
          <SpendBar
            label={`Credit of ${name}`}
            spentPkr={budget.spent_pkr}
            heldPkr={budget.held_pkr}
            limitPkr={budget.credit_limit_pkr}
          />
        ),
    },
    {
      id: 'project',
      header: 'Project',
      cell: ({ project_id }) => <Foreign text={projectOf(project_id)} none="–" />,
      hideBelow: 'l',
    },
    {
      id: 'environment',
      header: 'Environment',
      width: '120px',
      cell: ({ environment }) => (
        <Badge tone={environment === 'production' ? 'info' : 'neutral'}>
          {environmentLabel(environment)}
        </Badge>
      ),
      hideBelow: 'm',
    },
    {
      id: 'models',
      header: 'Models',
      width: '150px',
      cell: ({ allowed_models }) =>
        allowed_models === null ? (
          <span className={list.muted}>All</span>
        ) : allowed_models.length === 1 ? (
          <Foreign text={allowed_models[0]} />
        ) : (
          <span title={allowed_models.join('\n')}>{count(allowed_models.length)} models</span>
        ),
      hideBelow: 'l',
    },
    {
      id: 'rate',
      header: 'Rate per min',
      align: 'end',
      width: '100px',
      cell: ({ rate_limit_rpm }) => count(rate_limit_rpm),
      hideBelow: 'm',
    },
    {
      id: 'expires',
      header: 'Expires',
      width: '140px',
      cell: ({ expires_at }) => <KeyExpiry at={expires_at} />,
    },
    {
      id: 'used',
      header: 'Last used',
      width: '130px',
      cell: ({ last_used_at }) =>
        last_used_at === null ? <span className={list.muted}>–</span> : <Time at={last_used_at} relative />,
    },
    {
      id: 'actions',
      header: '',
      align: 'end',
      width: '50px',
      cell: (row) => <KeyMenu row={row} onAction={(action) => onAction(row, action)} />,
    },
  ];
}
