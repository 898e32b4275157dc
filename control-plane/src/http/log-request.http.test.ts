import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { auth } from '@gatehouse/contract';
import { duringTests } from '../testing/during-tests.ts';
import { startTestApi } from '../testing/test-api.ts';

const CANARY = 'kanarienvogel-7b1f';
const KEY = 'sk_svc_Kanarienvogel00000000000000000000';

describe('the request log line', () => {
  const api = duringTests(startTestApi);

  const lineOf = (id: unknown) =>
    api.logLines.filter((line) => line['request_id'] === id && line['msg'] === 'request');

  it('is one per request, with session, status and time', async () => {
    const { client, userId, organizationId } = await api.signUp();
    const reply = await client.send(auth.me);
    const [line, ...more] = lineOf(reply.headers['x-request-id']);
    assert.equal(more.length, 0);
    assert.ok(line);
    const { time, pid, hostname, ms, ...rest } = line;
    assert.ok(typeof ms === 'number' && ms >= 0);
    assert.deepEqual(rest, {
      level: 30,
      msg: 'request',
      request_id: reply.headers['x-request-id'],
      operation: 'me',
      method: 'GET',
      path: '/api/auth/me',
      status: 200,
      organization_id: organizationId,
      user_id: userId,
    });
  });

  it('is for LOG_LEVEL=debug only where a probe asks', async () => {
    const before = api.logLines.length;
    const client = api.anonymous();
    for (const path of ['/healthz', '/readyz']) await client.raw({ method: 'GET', path });
    await client.raw({ method: 'GET', path: '/api/routes' });
    const levels = api.logLines.slice(before).map(({ level, path }) => [level, path]);
    assert.deepEqual(levels, [
      [20, '/healthz'],
      [20, '/readyz'],
      [30, '/api/routes'],
    ]);
  });

  it('names the route without its parameters, and the start of an unknown path', async () => {
    const client = api.anonymous();
    for (const [method, path, logged, operation] of [
      ['DELETE', `/api/keys/${CANARY}?x=${CANARY}`, '/api/keys/:key_id', 'revokeKey'],
      ['GET', `/api/members?limit=${CANARY}`, '/api/members', 'listMembers'],
      ['GET', `/api/nothing?x=${CANARY}`, '/api/nothing'],
      ['PUT', `/api/keys/${KEY}`, '/api/keys/sk_svc_...'],
      ['GET', `/api/${KEY}/${KEY.toUpperCase()}`, '/api/sk_svc_.../sk_svc_...'],
      ['GET', `/${'a'.repeat(300)}`, `/${'a'.repeat(199)}`],
      ['GET', '/api/%zz%0a', '/api/%25zz%250a'],
    ] as const) {
      const { headers } = await client.raw({ method, path });
      const [line] = lineOf(headers['x-request-id']);
      assert.equal(line?.['path'], logged);
      assert.equal(line?.['operation'], operation);
    }
  });

  it('contains no secret of a request, successful or not', async () => {
    const { client, email } = await api.signUp();
    const json = { 'content-type': 'application/json' };
    const login = (body: string, headers = {}) =>
      client.raw({ method: 'POST', path: '/api/auth/login', headers: { ...json, ...headers }, body });
    const password = `${CANARY} password`;

    const registered = await client.raw({
      method: 'POST',
      path: '/api/auth/register',
      headers: json,
      body: JSON.stringify({ email: 'log@example.com', password, organization_name: 'Log' }),
    });
    assert.equal(registered.status, 201);
    const signedIn = await login(JSON.stringify({ email: 'log@example.com', password }));
    assert.equal(signedIn.status, 200);
    const statuses = [
      await login(JSON.stringify({ email, password })),
      await login(JSON.stringify({ email, password: [password] })),
      await login(`{"email":"${email}","password":"${password}`),
      await login(`"${password}"`),
      await login(JSON.stringify({ email, password: `${password}\ud800` })),
      await login('{}', { 'content-type': `text/${CANARY}`, 'x-other': CANARY, 'user-agent': CANARY }),
      await login('{}', { authorization: `Bearer ${CANARY}`, origin: `https://${CANARY}.example` }),
      await client.raw({
        method: 'GET',
        path: '/api/members',
        headers: { cookie: `svc_access_token=${CANARY}` },
      }),
      await client.raw({
        method: 'GET',
        path: '/api/members',
        headers: { cookie: `svc_access_token=${CANARY}; svc_access_token=${CANARY}` },
      }),
      await client.raw({ method: 'GET', path: `/api/activity?limit=${CANARY}&password=${CANARY}` }),
    ].map(({ status }) => status);
    assert.deepEqual(statuses, [401, 400, 400, 400, 400, 415, 403, 401, 401, 401]);

    const text = JSON.stringify(api.logLines);
    assert.ok(!text.toLowerCase().includes('kanarienvogel'), text);
    assert.ok(!text.includes('argon2'), text);
    const tokens = [...client.cookies.values(), ...tokensOf(signedIn.headers['set-cookie'])];
    assert.equal(tokens.length, 4);
    for (const token of tokens) assert.ok(!text.includes(token));
  });

  it('cannot be forged with line breaks or escape sequences', async () => {
    const paths = ['/api/%0d%0a{"level":60}', '/api/%1b[2J', '/api/%E2%80%A8x'];
    for (const path of paths) {
      const { headers } = await api.anonymous().raw({ method: 'GET', path });
      const line = JSON.stringify(lineOf(headers['x-request-id'])[0]);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      assert.ok(!/[\u0000-\u001f\u2028\u2029]/.test(line));
    }
  });
});

function tokensOf(setCookie: string | string[] | undefined): string[] {
  return [setCookie ?? []].flat().map((line) => /=([^;]+)/.exec(line)?.[1] ?? '');
}
