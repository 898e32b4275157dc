import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { activity, auth, Secret } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { hashSync } from '@node-rs/argon2';
import { comparable } from '../testing/comparable.ts';
import { duringTests } from '../testing/during-tests.ts';
import { waitingForLocks } from '../testing/hold-organization.ts';
import { startTestApi, TEST_PASSWORD } from '../testing/test-api.ts';
import { setPassword } from './operator/set-password.ts';

const ACCENTS = 'z\u00fcrich \u00e9t\u00e9 \u0622';

describe('POST /auth/login', () => {
  const api = duringTests(startTestApi);

  const signIn = (email: string, password = TEST_PASSWORD) => ({ body: { email, password } });

  it('200 with the account and both cookies, which open the API', async () => {
    const { client, email, userId, organizationId, organizationName } = await api.signUp();
    const reply = await client.send(auth.login, signIn(` ${email.toUpperCase()}\n`));
    assert.equal(reply.status, 200);
    const body = JSON.parse(reply.text);
    assert.deepEqual(body, {
      user: { user_id: userId, email, role: 'owner', joined_at: body.user.joined_at },
      organization: { id: organizationId, name: organizationName },
    });
    const cookies = [reply.headers['set-cookie']].flat();
    assert.equal(cookies.length, 2);
    assert.match(
      String(cookies[0]),
      /^svc_access_token=[\w-]{43}; Path=\/; Max-Age=900; HttpOnly; Secure; SameSite=Lax$/,
    );
    assert.match(
      String(cookies[1]),
      /^svc_refresh_token=[\w-]{43}; Path=\/api\/auth; Max-Age=604800; HttpOnly; Secure; SameSite=Lax$/,
    );
    assert.deepEqual(await client.call(auth.me), body);
    const { events } = await client.call(activity.listActivity);
    assert.deepEqual(
      events.map(({ actor, action, target }) => [actor, action, target]),
      [
        [email, 'user.login', email],
        [email, 'user.login', email],
        [null, 'budget.deposited', '1000.00 PKR'],
        [email, 'member.joined', email],
      ],
    );
  });

  it('200 with tokens of its own each time, and every session lives on', async () => {
    const { client: first, email } = await api.signUp();
    const second = api.anonymous();
    await second.call(auth.login, signIn(email));
    const third = api.anonymous();
    await third.call(auth.login, signIn(email));
    const tokens = [first, second, third].flatMap(({ cookies }) => [...cookies.values()]);
    assert.equal(new Set(tokens).size, 6);
    for (const client of [first, second, third]) await client.call(auth.me);
  });

  it('200, and the session of the cookies ends, whichever account it was of, without an entry in the log', async () => {
    for (const keep of [
      ['svc_access_token'],
      ['svc_refresh_token'],
      ['svc_access_token', 'svc_refresh_token'],
    ]) {
      const planted = await api.signUp();
      const own = await api.signUp();
      const old = planted.client.copy();
      const browser = planted.client.copy();
      for (const name of [...browser.cookies.keys()]) if (!keep.includes(name)) browser.cookies.delete(name);
      await browser.call(auth.login, signIn(own.email));
      assert.equal((await browser.call(auth.me)).user.email, own.email);
      for (const [name, value] of old.cookies) assert.notEqual(browser.cookies.get(name), value);
      await old.refused(auth.me, 401);
      await old.refused(auth.refresh, 401);
      // The other device of the same person is none of the browser's business.
      await own.client.call(auth.me);
      await planted.client.call(auth.login, signIn(planted.email));
      const { events } = await planted.client.call(activity.listActivity);
      assert.ok(!events.some(({ action }) => action === 'user.logout'));
    }
  });

  it('401 that leaves the session that the caller came with as it is', async () => {
    const { client, email } = await api.signUp();
    const reply = await client.send(auth.login, signIn(email, 'wrong password'));
    assert.equal(reply.status, 401);
    assert.equal(reply.headers['set-cookie'], undefined);
    await client.call(auth.me);
    await client.call(auth.refresh);
  });

  it('401 alike, byte for byte, for whatever is wrong', async () => {
    const wrong = await api.signUp();
    const deactivated = await api.signUp();
    const passwordless = await api.signUp();
    const deleted = await api.signUp();
    await runSql(api.database)`UPDATE users SET is_active = false WHERE id = ${deactivated.userId}`;
    await runSql(api.database)`UPDATE users SET password_hash = NULL WHERE id = ${passwordless.userId}`;
    await runSql(api.owner)`DELETE FROM users WHERE id = ${deleted.userId}`;
    const anonymous = api.anonymous();
    const replies = [];
    for (const given of [
      signIn(wrong.email, 'wrong password'),
      signIn(wrong.email, ''),
      signIn(wrong.email, 'x'.repeat(60_000)),
      signIn('nobody@example.com'),
      signIn('not an address'),
      signIn(''),
      signIn(`${'a'.repeat(5_000)}@example.com`),
      signIn(deactivated.email),
      signIn(deactivated.email, 'wrong password'),
      signIn(passwordless.email),
      signIn(deleted.email),
      signIn("' OR 1=1 --"),
    ]) {
      replies.push(comparable(await anonymous.send(auth.login, given)));
    }
    const [first, ...others] = replies;
    assert.equal(first?.status, 401);
    assert.equal(first?.text, '{"error":"Invalid email or password."}');
    for (const other of others) assert.deepEqual(other, first);
  });

  it('401 writes no entry into the log', async () => {
    const { client, email } = await api.signUp();
    const before = await client.call(activity.listActivity);
    await client.refused(auth.login, 401, signIn(email, 'wrong password'));
    assert.deepEqual(await client.call(activity.listActivity), before);
  });

  it('401 when the account is deactivated, or its password changed, while the password is checked', async () => {
    for (const change of [
      'UPDATE users SET is_active = false WHERE id = $1',
      `UPDATE users SET password_hash = 'changed' WHERE id = $1`,
    ]) {
      const { client, email, userId } = await api.signUp();
      // Holds the sign-in back after the password was found right and before the session is made.
      const holder = await api.database.connect();
      try {
        await holder.query('BEGIN');
        await holder.query('SELECT FROM users WHERE id = $1 FOR UPDATE', [userId]);
        const attempt = client.send(auth.login, signIn(email));
        await waitingForLocks(api.database, 1);
        await holder.query(change, [userId]);
        await holder.query('COMMIT');
        assert.equal((await attempt).status, 401);
      } finally {
        await holder.end();
      }
    }
  });

  it('200 with a password in either Unicode form, whichever it was registered or set in', async () => {
    for (const form of ['NFC', 'NFD'] as const) {
      const email = `${randomUUID()}@example.com`;
      const body = { email, password: ACCENTS.normalize(form), organization_name: `Org ${randomUUID()}` };
      await api.anonymous().call(auth.register, { body });
      for (const typed of ['NFC', 'NFD'] as const)
        await api.anonymous().call(auth.login, signIn(email, ACCENTS.normalize(typed)));
      await api.anonymous().refused(auth.login, 401, signIn(email, 'z\u00fcrich is a city'));
      await setPassword(api.owner, email, new Secret(`new ${ACCENTS}`.normalize(form)));
      for (const typed of ['NFC', 'NFD'] as const)
        await api.anonymous().call(auth.login, signIn(email, `new ${ACCENTS}`.normalize(typed)));
    }
  });

  it('200 with a password whose hash is of another form, which is renewed, by each of several at once', async () => {
    for (const typed of ['NFC', 'NFD'] as const) {
      const { email, userId } = await api.signUp();
      const storedHash = async () => {
        const [row] = await runSql<{ passwordHash: string }>(api.database)`
          SELECT password_hash FROM users WHERE id = ${userId}`;
        return row?.passwordHash ?? assert.fail('no account');
      };
      const old = hashSync(ACCENTS.normalize('NFD'));
      await runSql(api.owner)`UPDATE users SET password_hash = ${old} WHERE id = ${userId}`;
      const attempts = Array.from({ length: 4 }, () =>
        api.anonymous().send(auth.login, signIn(email, ACCENTS.normalize(typed))),
      );
      for (const { status } of await Promise.all(attempts)) assert.equal(status, 200);
      const renewed = await storedHash();
      assert.notEqual(renewed, old);
      for (const form of ['NFD', 'NFC'] as const)
        await api.anonymous().call(auth.login, signIn(email, ACCENTS.normalize(form)));
      assert.equal(await storedHash(), renewed);
    }
  });

  it('400 for an address that is not ASCII', async () => {
    const { detail } = await api.anonymous().refused(auth.login, 400, signIn('\u212aelvin@example.com', 'x'));
    assert.deepEqual(
      (detail as { type: string }[]).map(({ type }) => type),
      ['not_ascii'],
    );
  });
});
