import type { AlertChannel, AlertDelivery } from '@gatehouse/sdk';
import { PlusIcon } from '@radix-ui/react-icons';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { apiCall, queryOf, sendCall } from '../../api/call.ts';
import { readAgain } from '../../api/query-client.ts';
import { useAccount } from '../../app/session.ts';
import { count } from '../../format/number.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { CopyCurl } from '../../ui/copy-curl.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Foreign } from '../../ui/foreign.tsx';
import * as list from '../../ui/list-page.module.css';
import { MenuItem } from '../../ui/menu.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Pagination } from '../../ui/pagination.tsx';
import { RowMenu } from '../../ui/row-menu.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { AddChannelDialog } from './add-channel-dialog.tsx';
import { ALERT_WORDS, destinationOf, KIND_WORDS, STATUS_WORDS } from './alert-words.ts';
import { ChannelSecretDialog } from './channel-secret-dialog.tsx';
import { DeleteChannelDialog } from './delete-channel-dialog.tsx';

type Task =
  | { readonly kind: 'add' }
  | { readonly kind: 'secret'; readonly secret: string }
  | { readonly kind: 'delete'; readonly target: AlertChannel };

const LIMIT = 50;
/** How soon the list looks again while an alert is on its way. */
const PENDING_MS = 2_000;

const channelsCall = apiCall('listAlertChannels', {});

export function AlertsPage() {
  const { user } = useAccount();
  const header = (
    <PageHeader
      title="Alerts"
      lead="Who is told when a spend limit is nearly or fully used, the balance is low, or a key expires soon."
    />
  );
  // The API tells a member nothing of them.
  if (user.role === 'member')
    return (
      <>
        {header}
        <Card title="Channels">
          <EmptyState title="Owners and admins see alerts">
            Ask one of them to have alerts sent to you.
          </EmptyState>
        </Card>
      </>
    );
  return (
    <>
      {header}
      <Alerts />
    </>
  );
}

function Alerts() {
  const [task, setTask] = useState<Task>();
  const [offset, setOffset] = useState(0);
  const close = () => setTask(undefined);
  const channels = useQuery(queryOf(channelsCall));
  const deliveriesCall = apiCall('listAlertDeliveries', { limit: LIMIT, offset });
  const sent = useQuery({
    ...queryOf(deliveriesCall),
    refetchInterval: ({ state }) =>
      state.data?.deliveries.some(({ status }) => status === 'pending') ? PENDING_MS : false,
  });
  const test = useMutation({
    mutationFn: ({ id }: AlertChannel) => sendCall(apiCall('testAlertChannel', { channel_id: id })),
    onSuccess: async () => {
      toast('Sent a test: see below how it went');
      setOffset(0);
      await readAgain('listAlertDeliveries');
    },
  });
  const add = (
    <Button variant="primary" icon={<PlusIcon />} onPress={() => setTask({ kind: 'add' })}>
      Send alerts
    </Button>
  );
  const known = channels.data?.channels;
  const deliveries = sent.data?.deliveries;
  return (
    <>
      <div className={list.page}>
        <Card
          title={known === undefined ? 'Channels' : `Channels: ${count(known.length)}`}
          caption="Each gets every alert of the organisation"
          actions={
            <>
              <CopyCurl call={channelsCall} of="the channels" />
              {known?.length ? add : undefined}
            </>
          }
          isFlush
        >
          {test.error ? <ErrorNotice error={test.error} /> : undefined}
          <DataTable
            label="Channels"
            columns={channelColumns(test.mutate, (target) => setTask({ kind: 'delete', target }))}
            rows={known}
            rowKey={({ id }) => id}
            error={channels.error}
            onRetry={channels.refetch}
            empty={
              <EmptyState title="Nobody is told yet" actions={add}>
                Add a webhook or an e-mail address, then send a test.
              </EmptyState>
            }
          />
        </Card>
        <Card
          title="Deliveries"
          caption="The last week. What does not arrive is sent again for a day"
          actions={<CopyCurl call={deliveriesCall} of="the deliveries" />}
          isFlush
        >
          <DataTable
            label="Deliveries"
            columns={deliveryColumns(new Map(known?.map((channel) => [channel.id, channel])))}
            rows={deliveries}
            rowKey={({ id }) => id}
            isStale={sent.isPlaceholderData}
            error={sent.error}
            onRetry={sent.refetch}
            empty={
              <EmptyState title="No alerts in the last week">
                They are written when what they tell happens, and sent within seconds.
              </EmptyState>
            }
          />
          {offset > 0 || deliveries?.length === LIMIT ? (
            <Pagination offset={offset} limit={LIMIT} shown={deliveries?.length ?? 0} onOffset={setOffset} />
          ) : undefined}
        </Card>
      </div>
      {task?.kind === 'add' ? (
        <AddChannelDialog onClose={close} onSecret={(secret) => setTask({ kind: 'secret', secret })} />
      ) : undefined}
      {task?.kind === 'secret' ? <ChannelSecretDialog secret={task.secret} onClose={close} /> : undefined}
      {task?.kind === 'delete' ? <DeleteChannelDialog target={task.target} onClose={close} /> : undefined}
    </>
  );
}

function channelColumns(
  test: (channel: AlertChannel) => void,
  remove: (channel: AlertChannel) => void,
): readonly Column<AlertChannel>[] {
  return [
    {
      id: 'destination',
      header: 'To',
      cell: (channel) => (
        <span className={list.identity}>
          <Foreign text={destinationOf(channel)} />
          <span className={list.muted}>{KIND_WORDS[channel.kind]}</span>
        </span>
      ),
    },
    {
      id: 'by',
      header: 'Added by',
      width: '220px',
      hideBelow: 'm',
      cell: ({ created_by }) =>
        created_by === null ? (
          <span className={list.muted}>Nobody any more</span>
        ) : (
          <Foreign text={created_by.email} />
        ),
    },
    {
      id: 'at',
      header: 'Added',
      width: '190px',
      hideBelow: 'm',
      cell: ({ created_at }) => <Time at={created_at} />,
    },
    {
      id: 'test',
      header: 'Test',
      width: '120px',
      cell: (channel) => (
        <Button size="s" onPress={() => test(channel)}>
          Send a test
        </Button>
      ),
    },
    {
      id: 'actions',
      header: '',
      align: 'end',
      width: '50px',
      cell: (channel) => (
        <RowMenu label={`Actions of ${destinationOf(channel)}`}>
          <MenuItem isDangerous onAction={() => remove(channel)}>
            Delete
          </MenuItem>
        </RowMenu>
      ),
    },
  ];
}

function deliveryColumns(channels: ReadonlyMap<string, AlertChannel>): readonly Column<AlertDelivery>[] {
  return [
    {
      id: 'type',
      header: 'Alert',
      cell: ({ type, last_error, status }) => (
        <span className={list.identity}>
          <span>{ALERT_WORDS[type]}</span>
          {last_error === null || status === 'delivered' ? undefined : (
            <span className={list.muted}>
              <Foreign text={last_error} />
            </span>
          )}
        </span>
      ),
    },
    {
      id: 'to',
      header: 'To',
      width: '260px',
      hideBelow: 'm',
      cell: ({ channel_id }) => {
        const channel = channels.get(channel_id);
        return channel === undefined ? undefined : <Foreign text={destinationOf(channel)} />;
      },
    },
    {
      id: 'status',
      header: 'State',
      width: '130px',
      cell: ({ status }) => <Badge tone={STATUS_WORDS[status].tone}>{STATUS_WORDS[status].word}</Badge>,
    },
    {
      id: 'attempts',
      header: 'Attempts',
      align: 'end',
      width: '100px',
      hideBelow: 'm',
      cell: ({ attempts }) => count(attempts),
    },
    { id: 'at', header: 'Written', width: '190px', cell: ({ created_at }) => <Time at={created_at} /> },
  ];
}
