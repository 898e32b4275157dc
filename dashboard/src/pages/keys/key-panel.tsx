import type { SpendLimit } from '@gatehouse/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { apiCall, queryOf } from '../../api/call.ts';
import { limitsCall } from '../../app/filter-options.ts';
import { count } from '../../format/number.ts';
import { pkr } from '../../format/pkr.ts';
import { perWindow } from '../../format/spend-window.ts';
import { Amount } from '../../ui/amount.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Details } from '../../ui/details.tsx';
import { Foreign } from '../../ui/foreign.tsx';
import { SidePanel } from '../../ui/side-panel.tsx';
import { SpendBar } from '../../ui/spend-bar.tsx';
import { Time } from '../../ui/time.tsx';
import { requestsOf } from '../requests-link.ts';
import type { KeyAction } from './key-actions.tsx';
import { environmentLabel } from './key-columns.tsx';
import { KeyExpiry } from './key-expiry.tsx';
import * as styles from './keys.module.css';
import type { KeyRow } from './use-keys.ts';

export interface KeyPanelProps {
  readonly row: KeyRow;
  readonly project: string | undefined;
  readonly onClose: () => void;
  readonly onAction: (action: KeyAction) => void;
}

/** All that is known of a key. */
export function KeyPanel({ row, project, onClose, onAction }: KeyPanelProps) {
  const { budget } = row;
  const details = useQuery(queryOf(apiCall('getKey', { key_id: row.id }))).data;
  const limits = useQuery(queryOf(limitsCall)).data?.limits;
  const binding = details && limits?.filter((limit) => binds(limit, row, details.created_by?.id));
  return (
    <SidePanel title={<Foreign text={row.name} />} isOpen onClose={onClose}>
      <div className={styles.panel}>
        <div className={styles.toolbar}>
          <Button onPress={() => onAction('edit')}>Edit limits</Button>
          <Button onPress={() => onAction('connect')}>Connect a client</Button>
          <Button onPress={() => onAction('rotate')}>Rotate</Button>
          <Button onPress={() => onAction('revoke')}>Revoke</Button>
        </div>
        {budget === undefined ? undefined : (
          <SpendBar
            label={`Credit of ${row.name}`}
            spentPkr={budget.spent_pkr}
            heldPkr={budget.held_pkr}
            limitPkr={budget.credit_limit_pkr}
          />
        )}
        <Details
          items={[
            { label: 'Name', value: <bdi>{row.name}</bdi> },
            { label: 'Prefix', value: <code>{row.key_prefix}</code> },
            {
              label: 'Id',
              value: (
                <span className={styles.id}>
                  <code>{row.id}</code>
                  <CopyButton text={row.id} label="Copy the id of the key" />
                </span>
              ),
            },
            { label: 'Project', value: <Foreign text={project} none="–" /> },
            { label: 'Environment', value: environmentLabel(row.environment) },
            { label: 'Rate limit', value: `${count(row.rate_limit_rpm)} requests per minute` },
            ...(budget === undefined
              ? []
              : [
                  { label: 'Spent', value: <Amount value={budget.spent_pkr} /> },
                  { label: 'Held in flight', value: <Amount value={budget.held_pkr} /> },
                  {
                    label: 'Credit limit',
                    value:
                      budget.credit_limit_pkr === null ? 'None' : <Amount value={budget.credit_limit_pkr} />,
                  },
                ]),
            ...(binding === undefined || binding.length === 0
              ? []
              : [
                  {
                    label: 'Spend limits',
                    value: (
                      <span className={styles.group}>
                        {binding.map(({ id, limit_pkr, window, remaining_pkr }) => (
                          <Link key={id} to="/limits">
                            {pkr(limit_pkr)} {perWindow(window)}, {pkr(remaining_pkr)} left
                          </Link>
                        ))}
                      </span>
                    ),
                  },
                ]),
            { label: 'Expires', value: <KeyExpiry at={row.expires_at} /> },
            { label: 'Created', value: <Time at={row.created_at} /> },
            ...(details === undefined
              ? []
              : [
                  {
                    label: 'Created by',
                    value: <Foreign text={details.created_by?.email} none="No member" />,
                  },
                ]),
            ...(details?.previous_valid_until == null
              ? []
              : [
                  {
                    label: 'Previous secret',
                    value: (
                      <>
                        <code>{details.previous_key_prefix}</code> until{' '}
                        <Time at={details.previous_valid_until} />
                        {details.previous_last_used_at == null ? (
                          ', not used since the rotation'
                        ) : (
                          <>
                            , last used <Time at={details.previous_last_used_at} />
                          </>
                        )}
                      </>
                    ),
                  },
                ]),
            {
              label: 'Last used',
              value: row.last_used_at === null ? 'No use is recorded' : <Time at={row.last_used_at} />,
            },
            {
              label: 'Models',
              value:
                row.allowed_models === null ? (
                  'All of the catalogue'
                ) : (
                  <span className={styles.models}>
                    {row.allowed_models.map((model) => (
                      <Badge key={model}>
                        <Foreign text={model} />
                      </Badge>
                    ))}
                  </span>
                ),
            },
          ]}
        />
        <Link {...requestsOf({ key: row.id })}>Show its requests of the last 30 days</Link>
      </div>
    </SidePanel>
  );
}

/** True if the limit binds every request of the key; a limit of metadata binds requests, whatever their key. */
function binds({ scope, mode }: SpendLimit, key: KeyRow, memberId: string | undefined): boolean {
  if (mode === 'alert' || scope.kind === 'metadata') return false;
  if (scope.kind === 'organization') return true;
  return scope.id === { project: key.project_id, key: key.id, member: memberId }[scope.kind];
}
