import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { apiCall, queryOf } from '../../api/call.ts';
import { routesCall } from '../../app/filter-options.ts';
import { count, plural } from '../../format/number.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { CopyCurl } from '../../ui/copy-curl.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { FilterBar } from '../../ui/filter-bar.tsx';
import { Foreign } from '../../ui/foreign.tsx';
import * as list from '../../ui/list-page.module.css';
import { PageHeader } from '../../ui/page-header.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { Time } from '../../ui/time.tsx';
import { type ProviderRow, providerRows } from './provider-rows.ts';
import * as styles from './providers.module.css';
import { RemoveKeyDialog } from './remove-key-dialog.tsx';
import { SetKeyDialog } from './set-key-dialog.tsx';

const pageRoute = getRouteApi('/signed-in/providers');

const vaultCall = apiCall('listVaultKeys', {});

interface Task {
  readonly kind: 'set' | 'remove';
  readonly row: ProviderRow;
}

export function ProvidersPage() {
  const { q = '' } = pageRoute.useSearch();
  const navigate = pageRoute.useNavigate();
  const routes = useQuery(queryOf(routesCall));
  const vault = useQuery(queryOf(vaultCall));
  const [task, setTask] = useState<Task>();
  const rows = routes.data && vault.data && providerRows(routes.data.routes, vault.data.keys);
  const text = q.toLowerCase();
  const shown = rows?.filter(({ provider, models }) =>
    [provider, ...models.map(({ id }) => id)].some((name) => name.toLowerCase().includes(text)),
  );
  const close = () => setTask(undefined);
  return (
    <>
      <PageHeader
        title="Providers"
        lead="With a key of your own, requests to a provider go out with your account there. Without one, the platform’s is used where it has one."
      />
      <div className={list.page}>
        <FilterBar>
          <span className={list.search}>
            <SearchField
              label="Search providers and models"
              value={q}
              onChange={(next) => void navigate({ search: next === '' ? {} : { q: next } })}
              isMain
            />
          </span>
        </FilterBar>
        <Card
          title={vault.data === undefined ? 'Own keys' : `Own keys: ${count(vault.data.keys.length)}`}
          caption="Stored encrypted; only the last four characters can be seen"
          actions={<CopyCurl call={vaultCall} of="the provider keys" />}
          isFlush
        >
          <DataTable
            label="Providers"
            columns={columns((kind, row) => setTask({ kind, row }))}
            rows={shown}
            rowKey={({ provider }) => provider}
            error={vault.error ?? routes.error}
            onRetry={() => Promise.all([vault.refetch(), routes.refetch()])}
            empty={
              rows?.length === 0 ? (
                <EmptyState title="No providers">Your operator adds providers to the catalogue.</EmptyState>
              ) : (
                <EmptyState title="No provider matches">Search for another name.</EmptyState>
              )
            }
          />
        </Card>
      </div>
      {task?.kind === 'set' ? <SetKeyDialog row={task.row} onClose={close} /> : undefined}
      {task?.kind === 'remove' ? <RemoveKeyDialog row={task.row} onClose={close} /> : undefined}
    </>
  );
}

function columns(act: (kind: Task['kind'], row: ProviderRow) => void): readonly Column<ProviderRow>[] {
  return [
    { id: 'provider', header: 'Provider', cell: ({ provider }) => <Foreign text={provider} /> },
    {
      id: 'key',
      header: 'Own key',
      cell: ({ key }) =>
        key === undefined ? (
          <span className={list.muted}>None</span>
        ) : (
          <Badge tone="good">{key.key_hint === null ? 'Set' : <code>…{key.key_hint}</code>}</Badge>
        ),
    },
    {
      id: 'updated',
      header: 'Set',
      width: '190px',
      hideBelow: 'm',
      cell: ({ key }) => (key === undefined ? undefined : <Time at={key.updated_at} />),
    },
    {
      id: 'models',
      header: 'Models',
      width: '220px',
      cell: ({ provider, models }) => {
        const active = models.filter((model) => model.active).length;
        const text =
          active === models.length
            ? plural(models.length, 'model')
            : `${plural(models.length, 'model')}, ${count(active)} active`;
        return models.length === 0 ? (
          <span className={list.muted}>None</span>
        ) : (
          <Link to="/models" search={{ provider }} aria-label={`${text} of ${provider}`}>
            {text}
          </Link>
        );
      },
    },
    {
      id: 'actions',
      header: '',
      align: 'end',
      width: '190px',
      cell: (row) => (
        <span className={styles.actions}>
          <Button
            size="s"
            aria-label={`${row.key === undefined ? 'Set' : 'Replace'} the key for ${row.provider}`}
            onPress={() => act('set', row)}
          >
            {row.key === undefined ? 'Set' : 'Replace'}
          </Button>
          {row.key === undefined ? undefined : (
            <Button
              size="s"
              variant="quiet"
              aria-label={`Remove the key for ${row.provider}`}
              onPress={() => act('remove', row)}
            >
              Remove
            </Button>
          )}
        </span>
      ),
    },
  ];
}
