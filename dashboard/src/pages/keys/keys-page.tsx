import { PlusIcon } from '@radix-ui/react-icons';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import { queryOf } from '../../api/call.ts';
import { keysCall, projectsCall } from '../../app/filter-options.ts';
import { count } from '../../format/number.ts';
import { pkr } from '../../format/pkr.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { CopyCurl } from '../../ui/copy-curl.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { FilterBar } from '../../ui/filter-bar.tsx';
import { FilterSelect } from '../../ui/filter-select.tsx';
import * as list from '../../ui/list-page.module.css';
import { PageHeader } from '../../ui/page-header.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { ConnectDialog } from './connect-dialog.tsx';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { EditKeyDialog } from './edit-key-dialog.tsx';
import type { KeyAction } from './key-actions.tsx';
import { keyColumns } from './key-columns.tsx';
import { KeyPanel } from './key-panel.tsx';
import { ENVIRONMENTS, type KeysSearch, matchingKeys } from './keys-search.ts';
import { NewSecretDialog, type ShownSecret } from './new-secret-dialog.tsx';
import { RevokeKeyDialog } from './revoke-key-dialog.tsx';
import { RotateKeyDialog } from './rotate-key-dialog.tsx';
import { budgetCall, useKeys } from './use-keys.ts';

const pageRoute = getRouteApi('/signed-in/keys');

type Task =
  | { readonly kind: 'create' }
  | { readonly kind: 'secret'; readonly shown: ShownSecret }
  | { readonly kind: KeyAction; readonly id: string };

export function KeysPage() {
  const search = pageRoute.useSearch();
  const navigate = pageRoute.useNavigate();
  const { rows, organization, error, budgetError, isBudgetLoading, refetch } = useKeys();
  const projects = useQuery(queryOf(projectsCall)).data?.projects;
  const [task, setTask] = useState<Task>();
  const show = (next: KeysSearch) => void navigate({ search: next });
  const projectOf = useCallback(
    (id: string) => projects?.find((project) => project.id === id)?.name,
    [projects],
  );
  const columns = useMemo(
    () => keyColumns(projectOf, isBudgetLoading, ({ id }, kind) => setTask({ kind, id })),
    [projectOf, isBudgetLoading],
  );
  const shown = rows && matchingKeys(rows, search);
  const isFiltered =
    search.q !== undefined || search.environment !== undefined || search.project !== undefined;
  const open = rows?.find(({ id }) => id === search.open);
  const target = task !== undefined && 'id' in task ? rows?.find(({ id }) => id === task.id) : undefined;
  const close = () => setTask(undefined);
  const closePanel = () => show({ ...search, open: undefined });
  const create = (
    <Button variant="primary" icon={<PlusIcon />} onPress={() => setTask({ kind: 'create' })}>
      Create a key
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Keys"
        lead="Each program has a key of its own, with limits of credit, rate, time and models."
        actions={create}
      />
      <div className={list.page}>
        <FilterBar>
          <span className={list.search}>
            <SearchField
              label="Search keys"
              value={search.q ?? ''}
              onChange={(q) => show({ ...search, q: q === '' ? undefined : q })}
              isMain
            />
          </span>
          <FilterSelect
            label="Environment"
            options={ENVIRONMENTS}
            value={search.environment}
            onChange={(value) =>
              show({ ...search, environment: ENVIRONMENTS.find((one) => one.value === value)?.value })
            }
          />
          <FilterSelect
            label="Project"
            options={(projects ?? []).map(({ id, name }) => ({ value: id, label: name }))}
            value={search.project}
            onChange={(project) => show({ ...search, project })}
          />
        </FilterBar>
        {budgetError !== undefined && budgetError !== null ? (
          <ErrorNotice error={budgetError} onRetry={refetch} />
        ) : undefined}
        <Card
          title={titleOf(rows?.length, shown?.length)}
          caption={
            organization &&
            `Limits of all keys together: ${pkr(organization.key_limits_pkr)} of ${pkr(organization.deposited_pkr)} deposited`
          }
          actions={
            <>
              <CopyCurl call={keysCall} of="the keys" />
              <CopyCurl call={budgetCall(0)} of="their credit" />
            </>
          }
          isFlush
        >
          <DataTable
            label="Keys"
            columns={columns}
            rows={shown}
            rowKey={({ id }) => id}
            onOpen={({ id }) => show({ ...search, open: id })}
            openKey={search.open}
            error={error}
            onRetry={refetch}
            empty={
              isFiltered ? (
                <EmptyState title="No key matches">Clear a filter, or search for another name.</EmptyState>
              ) : (
                <EmptyState title="No keys yet" actions={create}>
                  A program needs a key to send requests.
                </EmptyState>
              )
            }
          />
        </Card>
      </div>
      {open === undefined || task !== undefined ? undefined : (
        <KeyPanel
          row={open}
          project={projectOf(open.project_id)}
          onClose={closePanel}
          onAction={(kind) => setTask({ kind, id: open.id })}
        />
      )}
      {task?.kind === 'create' ? (
        <CreateKeyDialog
          onClose={close}
          onCreated={(key) => setTask({ kind: 'secret', shown: { title: 'Key created', ...key } })}
        />
      ) : undefined}
      {task?.kind === 'secret' ? <NewSecretDialog shown={task.shown} onClose={close} /> : undefined}
      {target !== undefined && task?.kind === 'edit' ? (
        <EditKeyDialog target={target} organization={organization} onClose={close} />
      ) : undefined}
      {target !== undefined && task?.kind === 'connect' ? (
        <ConnectDialog target={target} onClose={close} />
      ) : undefined}
      {target !== undefined && task?.kind === 'rotate' ? (
        <RotateKeyDialog
          target={target}
          onClose={close}
          onRotated={(shown) => setTask({ kind: 'secret', shown })}
        />
      ) : undefined}
      {target !== undefined && task?.kind === 'revoke' ? (
        <RevokeKeyDialog target={target} onClose={close} />
      ) : undefined}
    </>
  );
}

function titleOf(all: number | undefined, shown: number | undefined): string {
  if (all === undefined || shown === undefined) return 'Active keys';
  return shown === all ? `Active keys: ${count(all)}` : `Active keys: ${count(shown)} of ${count(all)}`;
}
