import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { alerts, spendLimits } from '@gatehouse/contract';
import { fixedKeyRing, MasterKey } from '@gatehouse/store';
import { runSql, TEST_MASTER_KEY } from '@gatehouse/store/testing';
import { Webhook } from 'standardwebhooks';
import {
  addWebhook,
  deliveriesOf,
  deliveryWhen,
  dueNow,
  sendTest,
  startAlertReceiver,
  startTestAlertSender,
} from '../testing/alert-receiver.ts';
import { duringTests } from '../testing/during-tests.ts';
import { signUpForKeys } from '../testing/key-account.ts';
import { startTestApi } from '../testing/test-api.ts';
import { rotateVault } from '../vault/index.ts';

describe('the sender of alerts', () => {
  const listed = new Set<string>();
  const settings = { webhookHosts: listed, smtp: undefined };
  const api = duringTests(() => startTestApi({ alerts: settings }));

  /** A channel to this receiver, and nobody else’s. */
  const channelTo = async ({ host, url }: { readonly host: string; readonly url: string }) => {
    listed.add(host);
    const account = await signUpForKeys(api);
    return { ...account, channel: await addWebhook(account.client, url) };
  };
  const startSender = (parts: Parameters<typeof startTestAlertSender>[1] = {}) =>
    startTestAlertSender(api, { settings, ...parts });

  /** Waits until so many attempts have been told as failed. */
  const attemptsEnded = async (id: string, attempts: number) => {
    for (;;) {
      const [row] = await runSql<{ seconds: number }>(api.database)`
        SELECT round(extract(epoch FROM due_at - clock_timestamp()))::integer AS seconds FROM alert_deliveries
        WHERE id = ${id} AND attempts = ${attempts} AND last_error IS NOT NULL AND due_at > clock_timestamp()`;
      if (row) return row.seconds;
      await sleep(20);
    }
  };

  it('posts a message that its secret verifies, and that says what happened', async () => {
    await using receiver = await startAlertReceiver();
    const { client, channel, organizationId, organizationName } = await channelTo(receiver);
    const body = { scope: { kind: 'organization' as const }, window: 'lifetime' as const, limit_pkr: 2.5 };
    const limit = await client.call(spendLimits.createSpendLimit, { body });
    await runSql(api.database)`SELECT open_spend_window(${limit.id}, '', clock_timestamp())`;
    await runSql(api.database)`
      UPDATE spend_windows SET spent_micro_pkr = 2000001, held_micro_pkr = 7 WHERE limit_id = ${limit.id}`;
    const [{ id } = { id: '' }] = await deliveriesOf(client);
    await using _ = startSender();
    const delivered = await deliveryWhen(client, id, ({ status }) => status === 'delivered');
    assert.deepEqual([delivered.attempts, delivered.last_error, delivered.channel_id], [1, null, channel.id]);
    const [message, ...others] = receiver.received;
    assert.ok(message && others.length === 0);
    assert.equal(message.path, '/alerts');
    assert.equal(message.headers['webhook-id'], id);
    assert.equal(message.headers['content-type'], 'application/json');
    const verified = new Webhook(channel.secret).verify(
      message.body,
      message.headers as Record<string, string>,
    );
    assert.throws(() => new Webhook(channel.secret).verify(`${message.body} `, message.headers as never));
    assert.deepEqual(verified, {
      type: 'spend_limit.threshold_reached',
      timestamp: delivered.created_at,
      data: {
        organization: { id: organizationId, name: organizationName },
        limit: {
          ...{ id: limit.id, scope: { kind: 'organization' }, window: 'lifetime', time_zone: 'UTC' },
          ...{ limit_pkr: 2.5, mode: 'refuse' },
        },
        threshold_percent: 80,
        ...{ spent_pkr: 2.000001, held_pkr: 0.000007, remaining_pkr: 0.499992 },
        window_started_at: limit.window_started_at,
        window_ends_at: null,
      },
    });
  });

  it('tries again with the same id and bytes until the receiver takes it', async () => {
    let answers = 0;
    await using receiver = await startAlertReceiver((response) => {
      answers += 1;
      response.writeHead(answers < 3 ? 503 : 200).end('x');
    });
    const { client, channel, organizationId } = await channelTo(receiver);
    await using _ = startSender();
    const first = await sendTest(client, channel.id);
    assert.deepEqual(
      [first.status, first.attempts, first.last_error],
      ['pending', 1, 'the receiver answered 503'],
    );
    await dueNow(api, organizationId);
    assert.ok((await attemptsEnded(first.id, 2)) <= 10);
    await dueNow(api, organizationId);
    const last = await deliveryWhen(client, first.id, ({ status }) => status === 'delivered');
    assert.deepEqual([last.attempts, last.last_error], [3, null]);
    const seen = receiver.received.map(({ headers, body }) => [headers['webhook-id'], body]);
    assert.deepEqual(seen, [seen[0], seen[0], seen[0]]);
  });

  it('gives up what is a day old, and waits an hour at most in between', async () => {
    await using receiver = await startAlertReceiver((response) => response.writeHead(500).end());
    const { client, channel, organizationId } = await channelTo(receiver);
    await using _ = startSender();
    const { id } = await sendTest(client, channel.id);
    await runSql(api.database)`UPDATE alert_deliveries SET attempts = 20 WHERE id = ${id}`;
    await dueNow(api, organizationId);
    const seconds = await attemptsEnded(id, 21);
    assert.ok(seconds > 3_500 && seconds <= 3_600);
    await runSql(api.database)`
      UPDATE alert_deliveries SET created_at = created_at - interval '23 hours 10 minutes' WHERE id = ${id}`;
    await dueNow(api, organizationId);
    const failed = await deliveryWhen(client, id, ({ status }) => status === 'failed');
    assert.equal(failed.last_error, 'the receiver answered 500');
  });

  it('follows no redirect', async () => {
    await using target = await startAlertReceiver();
    await using receiver = await startAlertReceiver((response) =>
      response.writeHead(307, { location: target.url }).end(),
    );
    listed.add(target.host);
    const { client, channel } = await channelTo(receiver);
    await using _ = startSender();
    const { last_error } = await sendTest(client, channel.id);
    assert.equal(last_error, 'the receiver answered 307; redirects are not followed');
    assert.deepEqual(target.received, []);
  });

  it('goes to no private address that a name leads to, also where it leads to a public one, too', async () => {
    const opened: Socket[] = [];
    await using listener = await listen((socket) => opened.push(socket));
    const account = await signUpForKeys(api);
    const names: Record<string, string[]> = {
      'private.example.com': ['127.0.0.1'],
      'mixed.example.com': ['8.8.8.8', '10.0.0.1'],
      'mapped.example.com': ['::ffff:127.0.0.1'],
      'none.example.com': [],
    };
    await using _ = startSender({ addressesOf: async (name) => names[name] ?? [] });
    for (const name of Object.keys(names)) {
      const { id } = await addWebhook(account.client, `https://${name}:${listener.port}/`);
      const { last_error } = await sendTest(account.client, id);
      assert.equal(
        last_error,
        name.startsWith('none')
          ? `the name ${name} has no address`
          : `the name ${name} leads to an address that is not public`,
      );
    }
    assert.deepEqual(opened, []);
  });

  it('asks the name servers and not the files of this machine for a name that is not listed', async () => {
    const account = await signUpForKeys(api);
    const { id } = await addWebhook(account.client, 'https://localhost/');
    await using _ = startSender();
    const { last_error } = await sendTest(account.client, id);
    assert.equal(last_error, 'the name localhost has no address');
  });

  it('judges an address by what is listed now', async () => {
    await using receiver = await startAlertReceiver();
    const { client, channel } = await channelTo(receiver);
    listed.delete(receiver.host);
    await using _ = startSender();
    const { last_error } = await sendTest(client, channel.id);
    assert.equal(last_error, 'The url must begin with https://.');
    assert.deepEqual(receiver.received, []);
  });

  it('reads no more than the first bytes of an answer without end', async () => {
    let sent = 0;
    await using listener = await listen((socket) => {
      socket.on('error', () => {});
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      const piece = Buffer.from(`10000\r\n${'x'.repeat(65_536)}\r\n`);
      const more = () => {
        while (!socket.destroyed && sent < 2 ** 30) {
          sent += piece.length;
          if (!socket.write(piece)) return;
        }
      };
      socket.on('drain', more);
      more();
    });
    const host = `127.0.0.1:${listener.port}`;
    const { client, channel } = await channelTo({ host, url: `http://${host}/` });
    await using _ = startSender();
    assert.equal((await sendTest(client, channel.id)).status, 'delivered');
    await listener.whenAllClosed();
    // What the two sockets of this machine hold, and not the gigabyte.
    assert.ok(sent < 32 * 2 ** 20, `${sent} bytes were sent`);
  });

  it('ends an attempt that hangs after 5 s, and serves the others meanwhile', async () => {
    await using silent = await listen(() => {});
    await using receiver = await startAlertReceiver();
    const host = `127.0.0.1:${silent.port}`;
    const hanging = await channelTo({ host, url: `http://${host}/` });
    const other = await channelTo(receiver);
    await using _ = startSender();
    const params = { channel_id: hanging.channel.id };
    const first = sendTest(hanging.client, hanging.channel.id);
    for (let n = 0; n < 6; n += 1) await hanging.client.call(alerts.testAlertChannel, { params });
    await deliveryWhen(
      hanging.client,
      (await deliveriesOf(hanging.client)).at(-1)?.id ?? '',
      ({ attempts }) => attempts > 0,
    );
    assert.equal((await sendTest(other.client, other.channel.id)).status, 'delivered');
    assert.ok(silent.connections() > 0);
    assert.equal((await first).last_error, 'the receiver did not answer within 5 s');
    assert.ok(silent.mostAtOnce() <= 4, `${silent.mostAtOnce()} attempts of one organisation at once`);
  });

  it('sends each once where several nodes send, and again what a node had begun when it ended', async () => {
    await using receiver = await startAlertReceiver();
    const { client, channel, organizationId } = await channelTo(receiver);
    const ids: string[] = [];
    for (let n = 0; n < 10; n += 1)
      ids.push(
        (await client.call(alerts.testAlertChannel, { params: { channel_id: channel.id } })).delivery_id,
      );
    // A node that claimed one and is gone.
    const [gone = ''] = ids;
    await runSql(api.database)`
      UPDATE alert_deliveries SET attempts = 1, due_at = clock_timestamp() + interval '3 seconds' WHERE id = ${gone}`;
    await using _ = startSender();
    await using __ = startSender();
    await using ___ = startSender();
    for (const id of ids) await deliveryWhen(client, id, ({ status }) => status === 'delivered');
    assert.deepEqual(receiver.received.map(({ headers }) => headers['webhook-id']).sort(), [...ids].sort());
    const [again] = (await deliveriesOf(client)).filter(({ id }) => id === gone);
    assert.equal(again?.attempts, 2);
    assert.ok(organizationId);
  });

  it('ends an attempt in flight when it is disposed, and leaves it to be sent again', async () => {
    await using silent = await listen(() => {});
    const host = `127.0.0.1:${silent.port}`;
    const { client, channel } = await channelTo({ host, url: `http://${host}/` });
    const sender = startSender();
    const { delivery_id } = await client.call(alerts.testAlertChannel, {
      params: { channel_id: channel.id },
    });
    await deliveryWhen(client, delivery_id, ({ attempts }) => attempts === 1);
    await sender[Symbol.asyncDispose]();
    const [left] = await deliveriesOf(client);
    assert.deepEqual([left?.status, left?.last_error], ['pending', null]);
  });

  it('opens the secret of a webhook under a new master key, too', async () => {
    await using receiver = await startAlertReceiver();
    const { client, channel } = await channelTo(receiver);
    const newKey = MasterKey.generate();
    const keyRing = fixedKeyRing([TEST_MASTER_KEY, newKey]);
    const rotation = await rotateVault({ database: api.owner, keyRing, newKey, batchSize: 2 });
    assert.deepEqual(rotation.skipped, []);
    assert.ok(rotation.rewrapped === rotation.records && rotation.records > 0);
    const behind = await runSql(api.database)`
      SELECT FROM alert_channels WHERE master_key_id <> ${newKey.id} UNION ALL
      SELECT FROM vault_master_keys WHERE NOT is_current`;
    assert.deepEqual(behind, []);
    await using _ = startSender({ keyRing: fixedKeyRing([newKey]) });
    assert.equal((await sendTest(client, channel.id)).status, 'delivered');
    const [message] = receiver.received;
    new Webhook(channel.secret).verify(message?.body ?? '', message?.headers as never);
  });
});

/** A listener that does with each connection what it is told, and counts them. */
async function listen(onConnection: (socket: Socket) => void) {
  const open = new Set<Socket>();
  let most = 0;
  let all = 0;
  const closed = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    // Without reading, it would not see that the other side has left.
    socket.resume();
    open.add(socket);
    all += 1;
    most = Math.max(most, open.size);
    socket.on('error', () => {});
    socket.on('close', () => {
      open.delete(socket);
      if (open.size === 0) closed.resolve();
    });
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as { port: number }).port,
    connections: () => all,
    mostAtOnce: () => most,
    whenAllClosed: () => closed.promise,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
