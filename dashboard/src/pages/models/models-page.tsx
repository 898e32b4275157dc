import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { apiCall, queryOf } from '../../api/call.ts';
import { routesCall } from '../../app/filter-options.ts';
import { count } from '../../format/number.ts';
import { Card } from '../../ui/card.tsx';
import { CopyCurl } from '../../ui/copy-curl.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { FilterBar } from '../../ui/filter-bar.tsx';
import { FilterSelect } from '../../ui/filter-select.tsx';
import * as list from '../../ui/list-page.module.css';
import { PageHeader } from '../../ui/page-header.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { modelColumns } from './model-columns.tsx';
import { ModelPanel } from './model-panel.tsx';
import { modelUse } from './model-use.ts';
import { type ModelsSearch, matchingRoutes, STATES } from './models-search.ts';

const pageRoute = getRouteApi('/signed-in/models');

const vaultCall = apiCall('listVaultKeys', {});

export function ModelsPage() {
  const search = pageRoute.useSearch();
  const navigate = pageRoute.useNavigate();
  const { data, error, refetch } = useQuery(queryOf(routesCall));
  const vault = useQuery(queryOf(vaultCall)).data?.keys ?? [];
  const routes = data?.routes;
  const shown = routes && matchingRoutes(routes, search);
  const show = (next: ModelsSearch) => void navigate({ search: next });
  const hasKey = (provider: string) => vault.some((key) => key.provider === provider);
  const open = routes?.find(({ id }) => id === search.open);
  const providers = [...new Set((routes ?? []).map(({ provider }) => provider))].sort();
  return (
    <>
      <PageHeader
        title="Models"
        lead="What a request can name as its model, by id or alias, and its price."
      />
      <div className={list.page}>
        <FilterBar>
          <span className={list.search}>
            <SearchField
              label="Search models"
              value={search.q ?? ''}
              onChange={(q) => show({ ...search, q: q === '' ? undefined : q })}
              isMain
            />
          </span>
          <FilterSelect
            label="Provider"
            options={providers.map((provider) => ({ value: provider, label: provider }))}
            value={search.provider}
            onChange={(provider) => show({ ...search, provider })}
          />
          <FilterSelect
            label="State"
            options={STATES}
            value={search.state}
            onChange={(value) => show({ ...search, state: STATES.find((one) => one.value === value)?.value })}
          />
        </FilterBar>
        <Card
          title={
            routes === undefined || shown === undefined
              ? 'Models'
              : shown.length === routes.length
                ? `Models: ${count(routes.length)}`
                : `Models: ${count(shown.length)} of ${count(routes.length)}`
          }
          caption="Prices in PKR per million tokens"
          actions={<CopyCurl call={routesCall} of="the models" />}
          isFlush
        >
          <DataTable
            label="Models"
            columns={modelColumns(hasKey)}
            rows={shown}
            rowKey={({ id }) => id}
            onOpen={({ id }) => show({ ...search, open: id })}
            openKey={search.open}
            error={error}
            onRetry={refetch}
            empty={
              routes?.length === 0 ? (
                <EmptyState title="The catalogue is empty">Your operator adds models to it.</EmptyState>
              ) : (
                <EmptyState title="No model matches">Clear a filter, or search for another name.</EmptyState>
              )
            }
          />
        </Card>
      </div>
      {open === undefined ? undefined : (
        <ModelPanel
          route={open}
          use={modelUse(open, hasKey)}
          onClose={() => show({ ...search, open: undefined })}
        />
      )}
    </>
  );
}
