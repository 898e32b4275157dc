import type { Route } from '@gatehouse/sdk';
import { plural } from '../../format/number.ts';
import { Amount } from '../../ui/amount.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { Foreign } from '../../ui/foreign.tsx';
import * as list from '../../ui/list-page.module.css';
import { ModelStateBadge } from './model-state.tsx';
import { modelUse } from './model-use.ts';
import * as styles from './models.module.css';

/** `hasKey`: whether the organisation's vault has a key for a provider. */
export function modelColumns(hasKey: (provider: string) => boolean): readonly Column<Route>[] {
  return [
    {
      id: 'model',
      header: 'Model',
      cell: ({ id, aliases }) => (
        <span className={list.identity}>
          <Foreign text={id} />
          {aliases.length === 0 ? undefined : (
            <span className={styles.aliases} title={aliases.join('\n')}>
              also <bdi>{aliases.join(', ')}</bdi>
            </span>
          )}
        </span>
      ),
    },
    {
      id: 'provider',
      header: 'Provider',
      width: '118px',
      cell: ({ provider }) => <Foreign text={provider} />,
    },
    {
      id: 'state',
      header: 'State',
      width: '150px',
      cell: (route) => <ModelStateBadge use={modelUse(route, hasKey)} />,
    },
    ...(
      [
        ['input', 'Input', undefined],
        ['cache_read', 'Cache read', 'l'],
        ['cache_write', 'Cache write', 'l'],
        ['output', 'Output', undefined],
      ] as const
    ).map(
      ([part, header, hideBelow]): Column<Route> => ({
        id: part,
        header,
        align: 'end',
        width: '84px',
        cell: ({ price_pkr_per_million }) => <Amount value={price_pkr_per_million[part]} unit={false} />,
        ...(hideBelow === undefined ? {} : { hideBelow }),
      }),
    ),
    {
      id: 'tiers',
      header: 'Also priced by',
      width: '118px',
      hideBelow: 'm',
      cell: ({ price_pkr_per_million: { tiers }, price_pkr_per_call }) => {
        const calls = Object.keys(price_pkr_per_call).length;
        const parts = [
          ...(tiers.length === 0 ? [] : ['prompt size']),
          ...(calls === 0 ? [] : [plural(calls, 'tool call')]),
        ];
        return parts.length === 0 ? (
          <span className={list.muted}>–</span>
        ) : (
          <span className={styles.more}>{parts.join(', ')}</span>
        );
      },
    },
    {
      id: 'endpoints',
      header: 'Endpoints',
      hideBelow: 'l',
      cell: ({ endpoints }) => <span className={styles.endpoints}>{endpoints.join(', ')}</span>,
    },
  ];
}
