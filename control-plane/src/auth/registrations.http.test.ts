import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { auth } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import type { RawReply } from '../testing/api-client.ts';
import { newcomer, startGoogleApi } from '../testing/google-api.ts';
import { startTestApi, TEST_PASSWORD, type TestApi } from '../testing/test-api.ts';
import { sweepExpired } from './sweep.ts';

const REFUSED = '{"error":"Too many accounts were registered lately. Try again later."}';

const register = (api: TestApi, address: string | undefined, given: { email?: string; name?: string } = {}) =>
  api.anonymous().send(auth.register, {
    body: {
      email: given.email ?? `${randomUUID()}@example.com`,
      password: TEST_PASSWORD,
      organization_name: given.name ?? randomUUID(),
    },
    ...(address === undefined ? {} : { headers: { 'x-forwarded-for': address } }),
  });

/** As if so many seconds had gone by. */
const age = (api: TestApi, seconds: number) =>
  runSql(api.owner)`
    UPDATE registration_attempts SET attempted_at = attempted_at - make_interval(secs => ${seconds})`;

function assertRefused(reply: RawReply): number {
  assert.deepEqual([reply.status, reply.text], [429, REFUSED]);
  return Number(reply.headers['retry-after']);
}

describe('the limit of registrations', () => {
  it('429 beyond what one network may, with the time to wait, and 201 for another', async () => {
    await using api = await startTestApi({ registrationsPerNetwork: 3 });
    for (const host of [1, 77, 254]) assert.equal((await register(api, `203.0.113.${host}`)).status, 201);
    const seconds = assertRefused(await register(api, '203.0.113.9'));
    assert.ok(seconds > 3_000 && seconds <= 3_600, String(seconds));
    assert.equal((await register(api, '203.0.114.9')).status, 201);
    for (const host of ['2001:db8:7::1', '2001:db8:7:ffff::2', '2001:db8:7:1:2:3:4:5'])
      assert.equal((await register(api, host)).status, 201);
    assertRefused(await register(api, '2001:db8:7::1'));
    assert.equal((await register(api, '2001:db8:8::1')).status, 201);
  });

  it('429 beyond what all networks may together', async () => {
    await using api = await startTestApi({ registrationsPerHour: 3 });
    for (const network of [1, 2, 3]) assert.equal((await register(api, `203.0.${network}.9`)).status, 201);
    assertRefused(await register(api, '203.0.4.9'));
  });

  it('201 without a limit for a program on this machine, which takes nothing from the others', async () => {
    await using api = await startTestApi({ registrationsPerNetwork: 1, registrationsPerHour: 1 });
    for (let n = 0; n < 3; n += 1) assert.equal((await register(api, undefined)).status, 201);
    assert.equal((await register(api, '203.0.113.9')).status, 201);
    assertRefused(await register(api, '203.0.113.9'));
    assert.equal((await register(api, undefined)).status, 201);
    // A local proxy forwards for a remote caller.
    assertRefused(await register(api, '127.0.0.1'));
    assertRefused(await register(api, 'unknown'));
  });

  it('429 for names and addresses that there are, exactly as for those that there are not', async () => {
    await using api = await startTestApi({ registrationsPerNetwork: 1 });
    const { email, organizationName } = await api.signUp();
    await register(api, '203.0.113.9');
    for (const given of [{ email }, { name: organizationName }, { email, name: organizationName }, {}])
      assertRefused(await register(api, '203.0.113.9', given));
    const [count] = await runSql(api.owner)`SELECT count(*) FROM users`;
    assert.deepEqual(count, { count: 2n });
  });

  it('counts attempts that failed by a name or an address, and none that was refused before', async () => {
    await using api = await startTestApi({ registrationsPerNetwork: 2, joinPolicy: 'closed' });
    const { email, organizationName } = await api.signUp();
    const weak = { email: 'a@example.com', password: 'password', organization_name: 'x' };
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    for (const body of [weak, { ...weak, password: TEST_PASSWORD, organization_name: '<' }, {}])
      assert.equal((await api.anonymous().send(auth.register, { body, headers })).status, 400);
    assert.equal((await register(api, '203.0.113.9', { email })).status, 409);
    assert.equal((await register(api, '203.0.113.9', { name: organizationName })).status, 403);
    assertRefused(await register(api, '203.0.113.9'));
  });

  it('201 again once the oldest is an hour old; asking in between makes nobody wait longer', async () => {
    await using api = await startTestApi({ registrationsPerNetwork: 2 });
    assert.equal((await register(api, '203.0.113.9')).status, 201);
    await age(api, 1_800);
    assert.equal((await register(api, '203.0.113.9')).status, 201);
    const seconds = assertRefused(await register(api, '203.0.113.9'));
    assert.ok(seconds <= 1_800, String(seconds));
    await age(api, 1_800);
    assert.equal((await register(api, '203.0.113.9')).status, 201);
    assertRefused(await register(api, '203.0.113.9'));
    // What counts no longer goes; what counts stays.
    await age(api, 1_000);
    await sweepExpired(api.database, 900);
    assert.deepEqual(await runSql(api.owner)`SELECT count(*) FROM registration_attempts`, [{ count: 2n }]);
    await age(api, 3_600);
    await sweepExpired(api.database, 900);
    assert.deepEqual(await runSql(api.owner)`SELECT count(*) FROM registration_attempts`, [{ count: 0n }]);
  });

  it('201 for exactly as many as may, of a crowd that comes at once', async () => {
    await using api = await startTestApi({ registrationsPerNetwork: 5 });
    const replies = await Promise.all(Array.from({ length: 20 }, () => register(api, '203.0.113.9')));
    const statuses = replies.map(({ status }) => status).toSorted();
    assert.deepEqual(statuses, [...Array(5).fill(201), ...Array(15).fill(429)]);
  });

  it('429 for a Google account that is new, and 200 for one that is known', async () => {
    await using google = await startGoogleApi({ registrationsPerNetwork: 2 });
    const { api } = google;
    const send = async (account: ReturnType<typeof newcomer>, organization?: string) => {
      const { idToken } = await google.provider.issue(account, {});
      return api.anonymous().send(auth.google, {
        body: {
          credential: idToken,
          ...(organization === undefined ? {} : { organization_name: organization }),
        },
        headers: { 'x-forwarded-for': '203.0.113.9' },
      });
    };
    const known = newcomer();
    assert.equal((await send(known, 'Known')).status, 200);
    assert.equal((await register(api, '203.0.113.9')).status, 201);
    assertRefused(await send(newcomer(), 'Known'));
    assertRefused(await send(newcomer(), 'Unknown'));
    assert.equal((await send(known, 'Known')).status, 200);
    assert.equal((await send(known)).status, 200);
    assert.equal((await send(newcomer())).status, 400);
  });
});
