import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ACCESS_COOKIE, activity, auth, REFRESH_COOKIE } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { duringTests } from '../testing/during-tests.ts';
import { startTestApi } from '../testing/test-api.ts';

describe('POST /auth/refresh', () => {
  const api = duringTests(startTestApi);

  const age = (userId: string, seconds: number) =>
    runSql(api.database)`
      UPDATE sessions SET refresh_expires_at = refresh_expires_at - make_interval(secs => ${seconds}) WHERE user_id = ${userId}`;

  it('200 with the account and a fresh access cookie; the refresh cookie and the old access token stay', async () => {
    const { client } = await api.signUp();
    const old = client.copy();
    const account = await client.call(auth.me);
    const reply = await client.send(auth.refresh);
    assert.equal(reply.status, 200);
    assert.deepEqual(JSON.parse(reply.text), account);
    const [cookie, ...more] = [reply.headers['set-cookie']].flat();
    assert.equal(more.length, 0);
    assert.match(
      String(cookie),
      /^svc_access_token=[\w-]{43}; Path=\/; Max-Age=900; HttpOnly; Secure; SameSite=Lax$/,
    );
    assert.notEqual(client.cookies.get(ACCESS_COOKIE), old.cookies.get(ACCESS_COOKIE));
    await client.call(auth.me);
    await old.call(auth.me);
    await old.call(auth.refresh);
  });

  it('200 without an access cookie, or with one that has expired', async () => {
    const { client, userId } = await api.signUp();
    client.cookies.delete(ACCESS_COOKIE);
    await client.call(auth.refresh);
    await runSql(api.database)`
      UPDATE access_tokens SET expires_at = expires_at - interval '1 day'
      WHERE session_id IN (SELECT id FROM sessions WHERE user_id = ${userId})`;
    await client.refused(auth.me, 401);
    await client.call(auth.refresh);
    await client.call(auth.me);
  });

  it('200 for fifty at once with one cookie, and every access token works', async () => {
    const { client } = await api.signUp();
    const tabs = Array.from({ length: 50 }, () => client.copy());
    const replies = await Promise.all(tabs.map((tab) => tab.send(auth.refresh)));
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
    assert.equal(new Set(tabs.map(({ cookies }) => cookies.get(ACCESS_COOKIE))).size, 50);
    await Promise.all([client, ...tabs].map((tab) => tab.call(auth.me)));
  });

  it('200 for seven days from signing in and 401 a second later, however often it was refreshed', async () => {
    const { client, userId } = await api.signUp();
    const day = 86_400;
    for (const seconds of [day, 6 * day - 60]) {
      await age(userId, seconds);
      await client.call(auth.refresh);
    }
    const [row] = await runSql<{ seconds: number }>(api.database)`
      SELECT extract(epoch FROM refresh_expires_at - created_at)::integer AS seconds FROM sessions WHERE user_id = ${userId}`;
    assert.equal(row?.seconds, 60);
    await age(userId, 61);
    assert.deepEqual(await client.refused(auth.refresh, 401), { detail: 'Unauthorized' });
    // The access token that was issued last has its own lifetime.
    await client.call(auth.me);
  });

  it('401 without a cookie, or with one that is none', async () => {
    const { client } = await api.signUp();
    const access = client.cookies.get(ACCESS_COOKIE) ?? '';
    for (const token of [undefined, '', 'x', access, 'é', 'A'.repeat(43), 'A'.repeat(5_000)]) {
      const anonymous = api.anonymous();
      if (token !== undefined) anonymous.cookies.set(REFRESH_COOKIE, token);
      const reply = await anonymous.raw({
        method: 'POST',
        path: '/api/auth/refresh',
        headers: token === undefined ? {} : { cookie: `${REFRESH_COOKIE}=${token}` },
      });
      assert.equal(reply.status, 401);
      assert.equal(reply.text, '{"detail":"Unauthorized"}');
      assert.equal(reply.headers['set-cookie'], undefined);
    }
  });

  it('401 for the access cookie alone', async () => {
    const { client } = await api.signUp();
    client.cookies.delete(REFRESH_COOKIE);
    assert.deepEqual(await client.refused(auth.refresh, 401), { detail: 'Unauthorized' });
  });

  it('401 as soon as the account is deactivated, deleted or signed out', async () => {
    const deactivated = await api.signUp();
    await runSql(api.database)`UPDATE users SET is_active = false WHERE id = ${deactivated.userId}`;
    const deleted = await api.signUp();
    await runSql(api.owner)`DELETE FROM users WHERE id = ${deleted.userId}`;
    const left = await api.signUp();
    await left.client.copy().call(auth.logout);
    for (const { client } of [deactivated, deleted, left])
      assert.deepEqual(await client.refused(auth.refresh, 401), { detail: 'Unauthorized' });
  });

  it('writes no entry into the log', async () => {
    const { client } = await api.signUp();
    const before = await client.call(activity.listActivity);
    await client.call(auth.refresh);
    assert.deepEqual(await client.call(activity.listActivity), before);
  });

  it('gives no token to a session that is ended at the same time', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { client } = await api.signUp();
      const tabs = Array.from({ length: 6 }, () => client.copy());
      const [left] = await Promise.all([
        client.copy().send(auth.logout),
        ...tabs.map((tab) => tab.send(auth.refresh)),
      ]);
      assert.equal(left.status, 200);
      for (const tab of [client, ...tabs]) {
        await tab.refused(auth.me, 401);
        await tab.refused(auth.refresh, 401);
      }
    }
  });
});
