import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { alerts } from '@gatehouse/contract';
import { duringTests } from '../testing/during-tests.ts';
import { eventsOf, issueNames, signUpForKeys } from '../testing/key-account.ts';
import { startTestApi } from '../testing/test-api.ts';

const URL_OF_HOOK = 'https://hooks.example.com/services/T0/secret-path?token=1';

describe('alert channels', () => {
  const api = duringTests(() =>
    startTestApi({
      alerts: {
        webhookHosts: new Set(['localhost:9000', '10.1.2.3']),
        smtp: { url: 'smtp://127.0.0.1:1', from: 'gatehouse@example.com' },
      },
    }),
  );
  const plain = duringTests(startTestApi);

  it('201 with the secret of a webhook, which is not shown again, and both are listed, newest first', async () => {
    const account = await signUpForKeys(api);
    const { client, userId, email } = account;
    const body = { kind: 'webhook' as const, url: URL_OF_HOOK };
    const { id, created_at, secret, ...made } = await client.call(alerts.createAlertChannel, { body });
    assert.deepEqual(made, { kind: 'webhook', url: URL_OF_HOOK, created_by: { id: userId, email } });
    assert.match(secret ?? '', /^whsec_[\w+/]{43}=$/);
    const address = ' Finance@Example.com ';
    const second = await client.call(alerts.createAlertChannel, { body: { kind: 'email', address } });
    assert.deepEqual(
      [second.address, second.secret, second.url],
      ['finance@example.com', undefined, undefined],
    );
    const { channels } = await client.call(alerts.listAlertChannels);
    assert.deepEqual(channels, [second, { id, created_at, ...made }]);
    const stored = await api.database.connect();
    const { rows } = await stored.query(
      'SELECT alert_channels::text AS row FROM alert_channels WHERE id = $1',
      [id],
    );
    await stored.end();
    assert.ok(!rows[0].row.includes(Buffer.from(secret?.slice(6) ?? '', 'base64').toString('hex')));
    assert.deepEqual(
      (await eventsOf(account, 'alert_channel.created')).map(({ target }) => target),
      ['finance@example.com', 'hooks.example.com'],
    );
  });

  it('are ended by DELETE, and are nobody else’s', async () => {
    const { client, ...account } = await signUpForKeys(api);
    const foreign = await signUpForKeys(api);
    const { id } = await client.call(alerts.createAlertChannel, {
      body: { kind: 'webhook', url: URL_OF_HOOK },
    });
    for (const params of [{ channel_id: id }, { channel_id: randomUUID() }, { channel_id: 'x' }]) {
      const error = { error: 'Channel not found.' };
      assert.deepEqual(await foreign.client.refused(alerts.deleteAlertChannel, 404, { params }), error);
      assert.deepEqual(await foreign.client.refused(alerts.testAlertChannel, 404, { params }), error);
    }
    assert.deepEqual((await foreign.client.call(alerts.listAlertChannels)).channels, []);
    const params = { channel_id: id.toUpperCase() };
    const { message } = await client.call(alerts.deleteAlertChannel, { params });
    assert.equal(message, 'Alerts are no longer sent to hooks.example.com.');
    assert.deepEqual((await client.call(alerts.listAlertChannels)).channels, []);
    await client.refused(alerts.deleteAlertChannel, 404, { params });
    assert.equal((await eventsOf({ client, ...account }, 'alert_channel.deleted')).length, 1);
  });

  it('409 beyond ten, also for those that come at once', async () => {
    const { client } = await signUpForKeys(api);
    const body = { kind: 'webhook' as const, url: URL_OF_HOOK };
    const replies = await Promise.allSettled(
      Array.from({ length: 14 }, () => client.call(alerts.createAlertChannel, { body })),
    );
    assert.equal(replies.filter(({ status }) => status === 'fulfilled').length, 10);
    const refused = await client.refused(alerts.createAlertChannel, 409, { body });
    assert.match(String(refused['error']), /^An organisation can have 10 channels/);
  });

  it('429 after ten tests within ten minutes, of whichever channel', async () => {
    const { client } = await signUpForKeys(api);
    const body = { kind: 'webhook' as const, url: URL_OF_HOOK };
    const ids = [];
    for (let n = 0; n < 2; n += 1) ids.push((await client.call(alerts.createAlertChannel, { body })).id);
    for (let n = 0; n < 10; n += 1)
      await client.call(alerts.testAlertChannel, { params: { channel_id: ids[n % 2] ?? '' } });
    const refused = await client.refused(alerts.testAlertChannel, 429, {
      params: { channel_id: ids[0] ?? '' },
    });
    assert.match(String(refused['error']), /^10 tests were sent within 10 minutes\./);
  });

  describe('400 for a webhook that no service may call', () => {
    for (const [url, sentence] of [
      ['hooks.example.com', /must be an https address/],
      ['ftp://hooks.example.com/', /must be an https address/],
      ['http://hooks.example.com/', /must begin with https/],
      ['https://user:secret@hooks.example.com/', /must not hold a user/],
      ['https://127.0.0.1/', /127\.0\.0\.1 is not a public one/],
      ['https://2130706433/', /127\.0\.0\.1 is not a public one/],
      ['https://0x7f.1/', /127\.0\.0\.1 is not a public one/],
      ['https://0/', /0\.0\.0\.0 is not a public one/],
      ['https://10.0.0.8:9000/', /not a public one/],
      ['https://169.254.169.254/latest/meta-data', /not a public one/],
      ['https://100.64.0.1/', /not a public one/],
      ['https://192.168.1.1/', /not a public one/],
      ['https://224.0.0.1/', /not a public one/],
      ['https://[::1]/', /not a public one/],
      ['https://[::ffff:10.0.0.1]/', /not a public one/],
      ['https://[::7f00:1]/', /not a public one/],
      ['https://[64:ff9b::10.0.0.1]/', /not a public one/],
      ['https://[fe80::1]/', /not a public one/],
      ['https://[fd00::1]/', /not a public one/],
      ['https://[2002:a00:1::]/', /not a public one/],
      ['http://localhost:9001/', /must begin with https/],
    ] as const) {
      it(url, async () => {
        const { client } = await signUpForKeys(api);
        const refused = await client.refused(alerts.createAlertChannel, 400, {
          body: { kind: 'webhook', url },
        });
        assert.match(String(refused['error']), sentence);
      });
    }
  });

  it('takes what the operator lists, public addresses, and names, which are judged when they are connected to', async () => {
    const { client } = await signUpForKeys(api);
    for (const url of [
      'http://localhost:9000/x',
      'http://10.1.2.3:81/',
      'https://8.8.8.8/',
      'https://[2606:4700::1]/',
      'https://localhost/',
    ])
      assert.equal(
        (await client.call(alerts.createAlertChannel, { body: { kind: 'webhook', url } })).url,
        url,
      );
  });

  it('400 for e-mail where none is sent, and for what is missing', async () => {
    const { client } = await signUpForKeys(plain);
    const email = await client.refused(alerts.createAlertChannel, 400, {
      body: { kind: 'email', address: 'a@example.com' },
    });
    assert.match(String(email['error']), /SMTP_URL/);
    for (const [body, names] of [
      [{ kind: 'webhook' }, ['url']],
      [{ kind: 'email', url: 'https://a.example' }, ['address']],
      [{ kind: 'email', address: 'a@b\r\nBcc: c@example.com' }, ['address']],
      [{ kind: 'pager' }, ['kind']],
      [{ kind: 'webhook', url: `https://a.example/${'x'.repeat(2_048)}` }, ['url']],
    ] as const)
      assert.deepEqual(issueNames(await client.refused(alerts.createAlertChannel, 400, { body })), names);
  });
});
