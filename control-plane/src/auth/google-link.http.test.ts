import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { auth } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { dumpTables } from '../testing/dump-tables.ts';
import { duringTests } from '../testing/during-tests.ts';
import { errorOf, newcomer, startGoogleApi } from '../testing/google-api.ts';
import { waitingForLocks } from '../testing/hold-organization.ts';
import { TEST_PASSWORD } from '../testing/test-api.ts';

// An attacker registers another person's address before its owner signs in.

describe('a Google account whose address has an account already', () => {
  const google = duringTests(() => startGoogleApi({ signInAttempts: 3 }));

  const tokenOf = async (account: ReturnType<typeof newcomer>) =>
    (await google.provider.issue(account)).idToken;
  const signIn = (email: string, password = TEST_PASSWORD) =>
    google.api.anonymous().send(auth.login, { body: { email, password } });
  const gmail = () => `${randomUUID()}@gmail.com`;

  for (const [title, domain, hd] of [
    ['at gmail.com', 'gmail.com', undefined],
    ['in a domain that Google hosts', 'corp.example', 'corp.example'],
    ['in a domain that Google hosts, spelled in capitals', 'corp.example', 'CORP.example'],
  ] as const) {
    it(`200 ${title}: the account is linked, and its password and sessions are gone`, async () => {
      const email = `${randomUUID()}@${domain}`;
      const attacker = await google.api.signUp({ email });
      const elsewhere = google.api.anonymous();
      await elsewhere.call(auth.login, { body: { email, password: TEST_PASSWORD } });
      const bystander = await google.api.signUp();

      const victim = google.api.anonymous();
      const account = newcomer({ email: email.toUpperCase(), ...(hd === undefined ? {} : { hd }) });
      const reply = await google.send(await tokenOf(account), { from: victim, organization: 'Mine' });
      assert.equal(reply.status, 200, reply.text);
      assert.deepEqual(JSON.parse(reply.text), {
        user: { ...JSON.parse(reply.text).user, user_id: attacker.userId, email, role: 'owner' },
        organization: { id: attacker.organizationId, name: attacker.organizationName },
      });
      for (const session of [attacker.client, elsewhere]) {
        await session.refused(auth.me, 401);
        await session.refused(auth.refresh, 401);
      }
      assert.equal((await signIn(email)).status, 401);
      await victim.call(auth.me);
      await bystander.client.call(auth.me);
      // From now on it is known by its subject.
      const moved = await google.send(await tokenOf({ ...account, email: gmail() }));
      assert.equal(JSON.parse(moved.text).user.user_id, attacker.userId);
      await victim.call(auth.me);
    });
  }

  it('200 although the password was guessed at, and the guesses are forgotten', async () => {
    const email = gmail();
    await google.api.signUp({ email });
    const statuses = [];
    for (const password of ['x', 'x', 'x', TEST_PASSWORD])
      statuses.push((await signIn(email, password)).status);
    assert.deepEqual(statuses, [401, 401, 401, 429]);
    assert.equal((await google.send(await tokenOf(newcomer({ email })))).status, 200);
    assert.equal((await signIn(email)).status, 401);
  });

  it('409 where Google does not decide who has the address, and nothing is changed', async () => {
    for (const [domain, hd] of [
      ['corp.example', undefined],
      ['corp.example', 'other.example'],
    ] as const) {
      const email = `${randomUUID()}@${domain}`;
      const holder = await google.api.signUp({ email });
      const before = await dumpTables(google.api.database);
      const token = await tokenOf(newcomer({ email, ...(hd === undefined ? {} : { hd }) }));
      for (const given of [{}, { organization: 'Elsewhere' }, { organization: holder.organizationName }]) {
        const from = holder.client.copy();
        const reply = await google.send(token, { from, ...given });
        assert.equal(
          errorOf(reply, 409),
          'The e-mail address has an account that this Google account does not open.',
        );
        assert.equal(reply.headers['set-cookie'], undefined);
      }
      assert.equal(await dumpTables(google.api.database), before);
      await holder.client.call(auth.me);
      assert.equal((await signIn(email)).status, 200);
    }
  });

  it('409 for another subject with the address of a Google account, and nothing is changed', async () => {
    const email = gmail();
    const first = google.api.anonymous();
    await google.send(await tokenOf(newcomer({ email })), { organization: 'Recycled', from: first });
    const before = await dumpTables(google.api.database);
    errorOf(await google.send(await tokenOf(newcomer({ email })), { organization: 'Recycled' }), 409);
    errorOf(await google.send(await tokenOf(newcomer({ email, hd: 'gmail.com' }))), 409);
    assert.equal(await dumpTables(google.api.database), before);
    await first.call(auth.me);
  });

  it('401 for an account that is deactivated, and nothing is changed', async () => {
    const email = gmail();
    const holder = await google.api.signUp({ email });
    await runSql(google.api.database)`UPDATE users SET is_active = false WHERE id = ${holder.userId}`;
    const before = await dumpTables(google.api.database);
    const reply = await google.send(await tokenOf(newcomer({ email })), { organization: 'Mine' });
    assert.equal(errorOf(reply, 401), 'Invalid Google credential.');
    assert.equal(await dumpTables(google.api.database), before);
  });

  it('401 when the account is deactivated while it is signed in to, known or not', async () => {
    for (const isKnown of [true, false]) {
      const account = newcomer({ email: gmail() });
      const { userId } = await google.api.signUp({ email: account.email });
      const token = await tokenOf(account);
      if (isKnown) assert.equal((await google.send(token)).status, 200);
      const holder = await google.api.database.connect();
      try {
        await holder.query('BEGIN');
        await holder.query('SELECT FROM users WHERE id = $1 FOR UPDATE', [userId]);
        const attempt = google.send(token);
        await waitingForLocks(google.api.database, 1);
        await holder.query('UPDATE users SET is_active = false WHERE id = $1', [userId]);
        await holder.query('COMMIT');
        errorOf(await attempt, 401);
      } finally {
        await holder.end();
      }
      const [left] = await runSql(google.api.database)`
        SELECT google_subject, password_hash IS NULL AS is_passwordless FROM users WHERE id = ${userId}`;
      assert.deepEqual(left, { googleSubject: isKnown ? account.sub : null, isPasswordless: isKnown });
    }
  });

  it('leaves nothing to a sign-in by password that began before it', async () => {
    const email = gmail();
    const { userId } = await google.api.signUp({ email });
    const attacker = google.api.anonymous();
    // Blocks both sign-ins after the password check, the one by password first.
    const holder = await google.api.database.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('SELECT FROM users WHERE id = $1 FOR UPDATE', [userId]);
      const byPassword = attacker.send(auth.login, { body: { email, password: TEST_PASSWORD } });
      await waitingForLocks(google.api.database, 1);
      const byGoogle = google.send(await tokenOf(newcomer({ email })));
      await waitingForLocks(google.api.database, 2);
      await holder.query('COMMIT');
      assert.equal((await byGoogle).status, 200);
      await byPassword;
    } finally {
      await holder.end();
    }
    await attacker.refused(auth.me, 401);
    await attacker.refused(auth.refresh, 401);
  });
});
