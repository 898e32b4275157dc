import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { alerts } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { SMTPServer } from 'smtp-server';
import { deliveriesOf, deliveryWhen, sendTest, startTestAlertSender } from '../testing/alert-receiver.ts';
import { duringTests } from '../testing/during-tests.ts';
import { mintKey, signUpForKeys } from '../testing/key-account.ts';
import { startTestApi } from '../testing/test-api.ts';

interface Received {
  readonly from: string;
  readonly to: readonly string[];
  readonly user: string | undefined;
  readonly text: string;
}

/** A mail server on this machine, which refuses every address at example.org. */
async function startMailServer() {
  const received: Received[] = [];
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, answer) =>
      password === 'pass word' ? answer(null, { user: username }) : answer(new Error('no')),
    onRcptTo: ({ address }, _session, answer) =>
      address.endsWith('@example.org')
        ? answer(Object.assign(new Error('no such user here'), { responseCode: 550 }))
        : answer(),
    onData: async (stream, session, answer) => {
      const pieces: Buffer[] = [];
      for await (const piece of stream) pieces.push(piece);
      const { mailFrom, rcptTo } = session.envelope;
      received.push({
        from: mailFrom ? mailFrom.address : '',
        to: rcptTo.map(({ address }) => address),
        user: session.user as string | undefined,
        text: Buffer.concat(pieces).toString(),
      });
      answer();
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.server.address() as AddressInfo).port,
    received,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

describe('alerts by e-mail', () => {
  const api = duringTests(() =>
    startTestApi({
      alerts: { webhookHosts: new Set(), smtp: { url: 'smtp://127.0.0.1:1', from: 'gatehouse@example.com' } },
    }),
  );
  const senderTo = (url: string) =>
    startTestAlertSender(api, {
      settings: { webhookHosts: new Set(), smtp: { url, from: 'gatehouse@example.com' } },
    });
  const withChannel = async (address: string) => {
    const account = await signUpForKeys(api);
    const { id } = await account.client.call(alerts.createAlertChannel, { body: { kind: 'email', address } });
    return { ...account, channelId: id };
  };

  it('arrive at a mail server that asks for a password, with an id that stays the same', async () => {
    await using server = await startMailServer();
    const account = await withChannel('finance@example.com');
    const { id: keyId, key_prefix } = await mintKey(account, {
      name: 'Nightly ✨ <b>',
      expires_at: new Date(Date.now() + 30 * 86_400_000).toISOString(),
    });
    await runSql(
      api.owner,
    )`UPDATE api_keys SET expires_at = clock_timestamp() + interval '6 days' WHERE id = ${keyId}`;
    await runSql(api.owner)`UPDATE api_keys SET expiry_alert_at = clock_timestamp() WHERE id = ${keyId}`;
    await runSql(api.database)`SELECT alert_of_expiries(500)`;
    const [{ id } = { id: '' }] = await deliveriesOf(account.client);
    await using _ = senderTo(`smtp://gate%40example.com:pass%20word@127.0.0.1:${server.port}`);
    await deliveryWhen(account.client, id, ({ status }) => status === 'delivered');
    const [mail, ...others] = server.received;
    assert.ok(mail && others.length === 0);
    assert.deepEqual(
      [mail.from, mail.to, mail.user],
      ['gatehouse@example.com', ['finance@example.com'], 'gate@example.com'],
    );
    assert.match(mail.text, /^From: Gatehouse <gatehouse@example\.com>\r$/m);
    assert.match(mail.text, new RegExp(`^Message-ID: <${id}@example\\.com>\\r$`, 'm'));
    assert.match(mail.text, /^Subject: \[Gatehouse\] A key expires within 7 days\r$/m);
    const [, body = ''] = mail.text.replaceAll('=\r\n', '').split('\r\n\r\n');
    assert.ok(body.startsWith(`The key Nightly =E2=9C=A8 <b> (${key_prefix}) expires at `), mail.text);
  });

  it('tell why the mail server did not take them, without what it said', async () => {
    await using server = await startMailServer();
    const refused = await withChannel('nobody@example.org');
    const unknown = await withChannel('finance@example.com');
    await using _ = senderTo(`smtp://gate:pass%20word@127.0.0.1:${server.port}`);
    const { last_error } = await sendTest(refused.client, refused.channelId);
    assert.equal(last_error, 'the mail server refused the message with 550');
    await _[Symbol.asyncDispose]();
    await using __ = senderTo(`smtp://gate:wrong@127.0.0.1:${server.port}`);
    assert.match(
      (await sendTest(unknown.client, unknown.channelId)).last_error ?? '',
      /refused the message with 535/,
    );
    await __[Symbol.asyncDispose]();
    await using ___ = senderTo('smtp://127.0.0.1:1');
    const { delivery_id } = await unknown.client.call(alerts.testAlertChannel, {
      params: { channel_id: unknown.channelId },
    });
    const failed = await deliveryWhen(unknown.client, delivery_id, (one) => one.last_error !== null);
    assert.equal(failed.last_error, 'the mail server cannot be reached (ESOCKET)');
    assert.deepEqual(server.received, []);
  });

  it('fail with the reason where no mail server is set any more', async () => {
    const account = await withChannel('finance@example.com');
    await using _ = startTestAlertSender(api);
    const { last_error } = await sendTest(account.client, account.channelId);
    assert.equal(last_error, 'this service sends no e-mail any more: SMTP_URL is not set');
  });
});
