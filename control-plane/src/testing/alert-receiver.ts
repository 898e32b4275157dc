import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AlertChannelId, alerts, type OrganizationId } from '@gatehouse/contract';
import { Metrics } from '@gatehouse/observability';
import { fixedKeyRing } from '@gatehouse/store';
import { runSql, TEST_MASTER_KEY } from '@gatehouse/store/testing';
import { pino } from 'pino';
import { type AlertSenderDependencies, startAlertSender } from '../alerts/index.ts';
import type { ApiClient } from './api-client.ts';
import type { TestApi } from './test-api.ts';

export interface ReceivedMessage {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver of webhooks on this machine. */
export interface AlertReceiver extends AsyncDisposable {
  readonly host: string;
  readonly url: string;
  readonly received: ReceivedMessage[];
}

/** Answers each message as `answer` says; unless given, with 204. */
export async function startAlertReceiver(
  answer: (response: ServerResponse, message: ReceivedMessage) => void = (response) =>
    response.writeHead(204).end(),
): Promise<AlertReceiver> {
  const received: ReceivedMessage[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const message = {
      path: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(pieces).toString(),
    };
    received.push(message);
    answer(response, message);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    url: `http://${host}/alerts`,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Sends what is due of the API's database, until it is disposed. */
export function startTestAlertSender(
  api: Pick<TestApi, 'database'>,
  parts: Partial<AlertSenderDependencies> = {},
): AsyncDisposable {
  return startAlertSender({
    database: api.database,
    keyRing: fixedKeyRing([TEST_MASTER_KEY]),
    settings: { webhookHosts: new Set(), smtp: undefined },
    metrics: new Metrics(),
    log: pino({ level: 'silent' }),
    ...parts,
  });
}

/** Sends a test to the channel and returns its delivery as it is after the first attempt. */
export async function sendTest(client: ApiClient, channelId: string) {
  const { delivery_id } = await client.call(alerts.testAlertChannel, { params: { channel_id: channelId } });
  return deliveryWhen(client, delivery_id, ({ status, last_error }) => status !== 'pending' || !!last_error);
}

type Delivery = Awaited<ReturnType<typeof deliveriesOf>>[number];

export async function deliveriesOf(client: ApiClient) {
  return (await client.call(alerts.listAlertDeliveries, { query: { limit: 200 } })).deliveries;
}

/** The delivery once it is as wanted. */
export async function deliveryWhen(
  client: ApiClient,
  id: string,
  isWanted: (delivery: Delivery) => boolean,
): Promise<Delivery> {
  for (;;) {
    const delivery = (await deliveriesOf(client)).find((one) => one.id === id);
    if (delivery && isWanted(delivery)) return delivery;
    await sleep(20);
  }
}

/** Makes what waits for its next attempt due now. */
export async function dueNow(api: Pick<TestApi, 'database'>, organizationId: OrganizationId) {
  await runSql(api.database)`
    UPDATE alert_deliveries SET due_at = clock_timestamp(), last_error = NULL WHERE organization_id = ${organizationId} AND status = 'pending'`;
}

/** Adds a channel without the endpoint, for what it would refuse. */
export async function addWebhook(client: ApiClient, url: string) {
  const { id, secret = '' } = await client.call(alerts.createAlertChannel, {
    body: { kind: 'webhook', url },
  });
  return { id: id as AlertChannelId, secret };
}
