import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ACCESS_COOKIE, activity, auth, REFRESH_COOKIE } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { duringTests } from '../testing/during-tests.ts';
import { type SignedUp, startTestApi, TEST_PASSWORD } from '../testing/test-api.ts';

const CLEARED = [
  'svc_access_token=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax',
  'svc_refresh_token=; Path=/api/auth; Max-Age=0; HttpOnly; Secure; SameSite=Lax',
];

describe('POST /auth/logout', () => {
  const api = duringTests(startTestApi);

  /** The number of sign-outs in the organisation's activity log. */
  const logouts = async ({ organizationId }: SignedUp) => {
    const [row] = await runSql<{ n: bigint }>(api.database)`
      SELECT count(*) AS n FROM activity_events WHERE organization_id = ${organizationId} AND action = 'user.logout'`;
    return Number(row?.n);
  };

  it('200 with both cookies cleared, and both tokens are dead at once', async () => {
    const someone = await api.signUp();
    const saved = someone.client.copy();
    const reply = await someone.client.send(auth.logout);
    assert.equal(reply.status, 200);
    assert.deepEqual(JSON.parse(reply.text), { message: 'Signed out.' });
    assert.deepEqual(reply.headers['set-cookie'], CLEARED);
    assert.equal(someone.client.cookies.size, 0);
    for (const endpoint of [auth.me, auth.refresh, activity.listActivity])
      assert.deepEqual(await saved.refused(endpoint, 401), { detail: 'Unauthorized' });

    await someone.client.call(auth.login, { body: { email: someone.email, password: TEST_PASSWORD } });
    const { events } = await someone.client.call(activity.listActivity);
    const { actor, action, target, source_ip: sourceIp } = events[1] ?? assert.fail('no entry');
    assert.deepEqual(
      [actor, action, target, sourceIp],
      [someone.email, 'user.logout', someone.email, '127.0.0.1'],
    );
  });

  it('200 by either cookie, with all access tokens of the session dead, and no other session', async () => {
    for (const keep of [ACCESS_COOKIE, REFRESH_COOKIE]) {
      const someone = await api.signUp();
      const otherDevice = api.anonymous();
      await otherDevice.call(auth.login, { body: { email: someone.email, password: TEST_PASSWORD } });
      const otherTab = someone.client.copy();
      await otherTab.call(auth.refresh);
      const leaving = someone.client.copy();
      for (const name of [...leaving.cookies.keys()]) if (name !== keep) leaving.cookies.delete(name);
      await leaving.call(auth.logout);
      for (const tab of [someone.client, otherTab]) {
        await tab.refused(auth.me, 401);
        await tab.refused(auth.refresh, 401);
      }
      await otherDevice.call(auth.me);
      assert.equal(await logouts(someone), 1);
    }
  });

  it('200 for ten at once, of which one is written down', async () => {
    const someone = await api.signUp();
    const tabs = Array.from({ length: 10 }, () => someone.client.copy());
    const replies = await Promise.all(tabs.map((tab) => tab.send(auth.logout)));
    for (const { status, text, headers } of replies) {
      assert.equal(status, 200);
      assert.equal(text, '{"message":"Signed out."}');
      assert.deepEqual(headers['set-cookie'], CLEARED);
    }
    assert.equal(await logouts(someone), 1);
  });

  it('200 without a live session, with the cookies cleared and nothing written', async () => {
    const left = await api.signUp();
    const saved = left.client.copy();
    await left.client.call(auth.logout);
    const expired = await api.signUp();
    await runSql(api.database)`
      UPDATE sessions SET refresh_expires_at = now() WHERE user_id = ${expired.userId}`;
    await runSql(api.database)`
      UPDATE access_tokens SET expires_at = now() WHERE session_id IN (SELECT id FROM sessions WHERE user_id = ${expired.userId})`;
    const garbled = api.anonymous();
    garbled.cookies.set(ACCESS_COOKIE, 'x').set(REFRESH_COOKIE, 'y');
    const swapped = await api.signUp();
    const crossed = api.anonymous();
    crossed.cookies
      .set(ACCESS_COOKIE, swapped.client.cookies.get(REFRESH_COOKIE) ?? '')
      .set(REFRESH_COOKIE, swapped.client.cookies.get(ACCESS_COOKIE) ?? '');
    const before = await runSql(api.database)`SELECT count(*) AS n FROM activity_events`;
    for (const client of [api.anonymous(), saved, expired.client, garbled, crossed]) {
      const reply = await client.send(auth.logout);
      assert.equal(reply.status, 200);
      assert.equal(reply.text, '{"message":"Signed out."}');
      assert.deepEqual(reply.headers['set-cookie'], CLEARED);
    }
    assert.deepEqual(await runSql(api.database)`SELECT count(*) AS n FROM activity_events`, before);
    await swapped.client.call(auth.me);
  });

  it('200 with an access token that is live although the week of the session is over', async () => {
    const someone = await api.signUp();
    await runSql(api.database)`
      UPDATE sessions SET refresh_expires_at = now() WHERE user_id = ${someone.userId}`;
    const saved = someone.client.copy();
    await someone.client.call(auth.logout);
    await saved.refused(auth.me, 401);
    assert.equal(await logouts(someone), 1);
  });

  it('200 for a deactivated account with nothing written, and the session does not come back with the account', async () => {
    const someone = await api.signUp();
    const saved = someone.client.copy();
    await runSql(api.database)`UPDATE users SET is_active = false WHERE id = ${someone.userId}`;
    await someone.client.call(auth.logout);
    await runSql(api.database)`UPDATE users SET is_active = true WHERE id = ${someone.userId}`;
    await saved.refused(auth.me, 401);
    await saved.refused(auth.refresh, 401);
    assert.equal(await logouts(someone), 0);
  });

  it('200 with cookies of two sessions, both of which end, each in its own log', async () => {
    const one = await api.signUp();
    const two = await api.signUp();
    const mixed = api.anonymous();
    mixed.cookies
      .set(ACCESS_COOKIE, one.client.cookies.get(ACCESS_COOKIE) ?? '')
      .set(REFRESH_COOKIE, two.client.cookies.get(REFRESH_COOKIE) ?? '');
    await mixed.call(auth.logout);
    for (const someone of [one, two]) {
      await someone.client.refused(auth.me, 401);
      assert.equal(await logouts(someone), 1);
    }
  });
});
