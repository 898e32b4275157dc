import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { auth } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import type { RawReply } from '../testing/api-client.ts';
import { dumpTables } from '../testing/dump-tables.ts';
import { duringTests } from '../testing/during-tests.ts';
import { newcomer, startGoogleApi } from '../testing/google-api.ts';
import { TEST_PASSWORD } from '../testing/test-api.ts';

describe('the log of failed sign-ins', () => {
  const google = duringTests(() => startGoogleApi({ signInAttempts: 3 }));

  const beginning = (email: string) => createHash('sha256').update(email).digest('hex').slice(0, 16);
  /** The log lines of a request besides the one that every request has. */
  const linesOf = (reply: RawReply) =>
    google.api.logLines
      .filter((line) => line['request_id'] === reply.headers['x-request-id'] && line['msg'] !== 'request')
      .map(({ level, event, msg, operation, reason, email_hash, source_ip }) => ({
        level,
        event,
        msg,
        operation,
        reason,
        email_hash,
        source_ip,
      }));
  const login = (email: string, password: string) =>
    google.api.anonymous().send(auth.login, {
      body: { email, password },
      headers: { 'x-forwarded-for': '203.0.113.9' },
    });
  const byGoogle = (credential: string, nonce?: string) =>
    google.send(credential, nonce === undefined ? {} : { nonce });

  it('has one line for each failure, with the reason that the answer does not have', async () => {
    const { email, userId } = await google.api.signUp();
    const line = (reason: string, address = email) => [
      {
        level: 40,
        event: 'auth.sign_in_failed',
        msg: 'sign-in failed',
        operation: 'login',
        reason,
        email_hash: beginning(address),
        source_ip: '203.0.113.9',
      },
    ];
    assert.deepEqual(
      linesOf(await login('nobody@example.com', 'x')),
      line('unknown address', 'nobody@example.com'),
    );
    assert.deepEqual(linesOf(await login(email.toUpperCase(), 'x')), line('wrong password'));
    await runSql(google.api.database)`UPDATE users SET is_active = false WHERE id = ${userId}`;
    assert.deepEqual(linesOf(await login(email, TEST_PASSWORD)), line('deactivated'));
    await login(email, 'x');
    assert.deepEqual(linesOf(await login(email, 'x')), line('too many failures before'));
  });

  it('has one line for each that failed with Google, with the address where the token holds', async () => {
    const account = newcomer();
    const issue = async (nonce?: string) =>
      (await google.provider.issue(account, nonce === undefined ? {} : { nonce })).idToken;
    await google.send(await issue(), { organization: 'Log' });
    const reasonsOf = async (credential: string, nonce?: string) =>
      linesOf(await byGoogle(credential, nonce)).map(({ level, operation, reason, email_hash }) => [
        level,
        operation,
        reason,
        email_hash,
      ]);
    assert.deepEqual(await reasonsOf('rubbish'), [[40, 'google', 'no signed token', undefined]]);
    assert.deepEqual(await reasonsOf(await issue('n'), 'm'), [[40, 'google', 'nonce', undefined]]);
    const used = await issue('n');
    assert.equal((await byGoogle(used, 'n')).status, 200);
    assert.deepEqual(await reasonsOf(used, 'n'), [[40, 'google', 'used before', beginning(account.email)]]);
    await runSql(google.api.database)`
      UPDATE users SET is_active = false WHERE google_subject = ${account.sub}`;
    assert.deepEqual(await reasonsOf(await issue()), [
      [40, 'google', 'deactivated', beginning(account.email)],
    ]);
  });

  it('has none for one that succeeded, or that failed for want of a body', async () => {
    const { email, client } = await google.api.signUp();
    const { idToken } = await google.provider.issue(newcomer());
    for (const reply of [
      await login(email, TEST_PASSWORD),
      await google.send(idToken, { organization: 'Fine' }),
      await client.send(auth.login, { body: {} }),
    ])
      assert.deepEqual(linesOf(reply), []);
  });

  it('holds no address, password or token, and neither does the database hold a token', async () => {
    const account = newcomer();
    const { idToken } = await google.provider.issue(account, { nonce: 'kanarienvogel' });
    const refused = await google.provider.issue(account, { nonce: 'kanarienvogel' });
    await google.send(idToken, { organization: 'Secrets', nonce: 'kanarienvogel' });
    await byGoogle(idToken, 'kanarienvogel');
    await byGoogle(refused.idToken);
    await login(account.email, 'kanarienvogel password');
    const log = JSON.stringify(google.api.logLines);
    const rows = await dumpTables(google.api.database);
    for (const text of [log, rows]) {
      assert.ok(!text.includes('kanarienvogel'));
      for (const token of [idToken, refused.idToken])
        for (const part of token.split('.').slice(1)) {
          assert.ok(!text.includes(part));
          assert.ok(!text.includes(Buffer.from(part, 'base64url').toString('hex')));
        }
    }
    assert.ok(!log.includes(account.email) && !log.includes(account.sub));
  });
});
