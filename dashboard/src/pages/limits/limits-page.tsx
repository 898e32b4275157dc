import type { SpendLimit } from '@gatehouse/sdk';
import { PlusIcon } from '@radix-ui/react-icons';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { queryOf } from '../../api/call.ts';
import { keysCall, limitsCall, membersCall, projectsCall } from '../../app/filter-options.ts';
import { useAccount } from '../../app/session.ts';
import { count } from '../../format/number.ts';
import { pkr } from '../../format/pkr.ts';
import { perWindow } from '../../format/spend-window.ts';
import { Amount } from '../../ui/amount.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { CopyCurl } from '../../ui/copy-curl.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Foreign } from '../../ui/foreign.tsx';
import * as list from '../../ui/list-page.module.css';
import { MenuItem } from '../../ui/menu.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { RowMenu } from '../../ui/row-menu.tsx';
import { SpendBar } from '../../ui/spend-bar.tsx';
import { Time } from '../../ui/time.tsx';
import { DeleteLimitDialog } from './delete-limit-dialog.tsx';
import { LimitDialog } from './limit-dialog.tsx';
import { type Names, passedThreshold, scopeOf, WINDOWS } from './limit-words.ts';
import * as styles from './limits.module.css';

type Task = { readonly kind: 'create' } | { readonly kind: 'edit' | 'delete'; readonly target: SpendLimit };

export function LimitsPage() {
  const { user } = useAccount();
  const mayChange = user.role !== 'member';
  const found = useQuery(queryOf(limitsCall));
  const ofProjects = useQuery(queryOf(projectsCall));
  const ofKeys = useQuery(queryOf(keysCall));
  const ofMembers = useQuery(queryOf(membersCall));
  const queries = [found, ofProjects, ofKeys, ofMembers];
  const { projects = [] } = ofProjects.data ?? {};
  const { keys = [] } = ofKeys.data ?? {};
  const { members = [] } = ofMembers.data ?? {};
  const [task, setTask] = useState<Task>();
  const close = () => setTask(undefined);
  const names: Names = {
    projects: new Map(projects.map(({ id, name }) => [id, name])),
    keys: new Map(keys.map(({ id, name }) => [id, name])),
    members: new Map(members.map(({ user_id, email }) => [user_id, email])),
  };
  const create = mayChange ? (
    <Button variant="primary" icon={<PlusIcon />} onPress={() => setTask({ kind: 'create' })}>
      Limit spend
    </Button>
  ) : undefined;
  // Without the names, what a limit is of would look as if it were gone.
  const limits = queries.every(({ data }) => data !== undefined) ? found.data?.limits : undefined;
  return (
    <>
      <PageHeader
        title="Limits"
        lead={`At most so much in an hour, a day, a week or a month, beside the credit of each key. ${mayChange ? '' : 'Owners and admins change them.'}`}
        actions={create}
      />
      <div className={list.page}>
        <Card
          title={limits === undefined ? 'Spend limits' : `Spend limits: ${count(limits.length)}`}
          caption="A request is refused before it passes one, whichever node it reaches"
          actions={<CopyCurl call={limitsCall} of="the limits" />}
          isFlush
        >
          <DataTable
            label="Spend limits"
            columns={columns(names, mayChange ? (kind, target) => setTask({ kind, target }) : undefined)}
            rows={limits}
            rowKey={({ id }) => id}
            error={queries.find(({ error }) => error !== null)?.error}
            onRetry={() => Promise.all(queries.map(({ refetch }) => refetch()))}
            empty={
              <EmptyState title="No limits yet" actions={create}>
                Keys may spend their credit and the balance at any time.
              </EmptyState>
            }
          />
        </Card>
      </div>
      {task?.kind === 'create' || task?.kind === 'edit' ? (
        <LimitDialog
          target={task.kind === 'edit' ? task.target : undefined}
          options={{
            project: projects.map(({ id, name }) => ({ value: id, label: name })),
            key: keys.map(({ id, name, key_prefix }) => ({ value: id, label: name, detail: key_prefix })),
            member: members.map(({ user_id, email }) => ({ value: user_id, label: email })),
          }}
          onClose={close}
        />
      ) : undefined}
      {task?.kind === 'delete' ? <DeleteLimitDialog target={task.target} onClose={close} /> : undefined}
    </>
  );
}

function columns(
  names: Names,
  act: ((kind: 'edit' | 'delete', limit: SpendLimit) => void) | undefined,
): readonly Column<SpendLimit>[] {
  return [
    {
      id: 'scope',
      header: 'Requests of',
      cell: ({ scope }) => {
        const { kind, name } = scopeOf(scope, names);
        return (
          <span className={list.identity}>
            <Foreign text={name} none="gone" />
            <span className={list.muted}>
              <bdi>{kind}</bdi>
            </span>
          </span>
        );
      },
    },
    {
      id: 'spend',
      header: 'Spent of its window',
      width: '230px',
      cell: (limit) => (
        <SpendBar
          label={`Spend of ${limitLabel(limit, names)}`}
          spentPkr={limit.spent_pkr}
          heldPkr={limit.held_pkr}
          limitPkr={limit.limit_pkr}
        />
      ),
    },
    {
      id: 'left',
      header: 'Left',
      align: 'end',
      width: '150px',
      hideBelow: 'm',
      cell: ({ remaining_pkr, held_pkr }) => (
        <span className={list.identity}>
          <Amount value={remaining_pkr} />
          {held_pkr > 0 ? <span className={styles.held}>{pkr(held_pkr)} held</span> : undefined}
        </span>
      ),
    },
    {
      id: 'state',
      header: 'Past it',
      width: '130px',
      hideBelow: 'm',
      cell: (limit) => {
        const passed = passedThreshold(limit);
        const word = limit.mode === 'refuse' ? 'Refuses' : 'Only alerts';
        return (
          <span className={list.identity}>
            <span>{word}</span>
            {passed === undefined ? undefined : (
              <span>
                <Badge tone={passed === 100 ? 'bad' : 'warn'}>{passed} % spent</Badge>
              </span>
            )}
          </span>
        );
      },
    },
    {
      id: 'window',
      header: 'Window',
      width: '130px',
      hideBelow: 'm',
      cell: ({ window, time_zone }) => (
        <span className={list.identity}>
          <span title={perWindow(window)}>{WINDOWS.find(({ value }) => value === window)?.label}</span>
          {window === 'lifetime' ? undefined : <span className={list.muted}>{time_zone}</span>}
        </span>
      ),
    },
    {
      id: 'ends',
      header: 'Ends',
      width: '170px',
      hideBelow: 'l',
      cell: ({ window_ends_at }) =>
        window_ends_at === null ? <span className={list.muted}>–</span> : <Time at={window_ends_at} />,
    },
    {
      id: 'actions',
      header: '',
      align: 'end',
      width: '50px',
      cell: (limit) =>
        act === undefined ? undefined : (
          <RowMenu label={`Actions of ${limitLabel(limit, names)}`}>
            <MenuItem onAction={() => act('edit', limit)}>Change</MenuItem>
            <MenuItem isDangerous onAction={() => act('delete', limit)}>
              Delete
            </MenuItem>
          </RowMenu>
        ),
    },
  ];
}

/** A limit for screen readers: "the limit of web". */
function limitLabel({ scope }: SpendLimit, names: Names): string {
  return `the limit of ${scopeOf(scope, names).name ?? 'something that is gone'}`;
}
