import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Endpoint, endpoints, InternalErrorBody } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import type { ApiClient, RawReply, RawRequest } from '../testing/api-client.ts';
import { duringTests } from '../testing/during-tests.ts';
import { newcomer, startGoogleApi } from '../testing/google-api.ts';
import { somePath } from '../testing/paths.ts';
import type { TestApi } from '../testing/test-api.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const all = endpoints as readonly Endpoint[];
const withSession = all.filter(({ access }) => access === 'session');
const withBody = all.filter(({ body }) => body !== undefined);
const withQuery = all.filter(({ query }) => Object.keys(query.shape).length > 0);
const json = { 'content-type': 'application/json' };

// Valid bodies, so that the endpoint reaches the database.
const BODIES: Record<string, unknown> = {
  register: { email: 'new@example.com', password: 'correct horse battery', organization_name: 'New' },
  login: { email: 'new@example.com', password: 'correct horse battery' },
  setVaultKey: { provider: 'openai', api_key: 'sk-a' },
};

describe('the headers of every answer', () => {
  const google = duringTests(startGoogleApi);
  let api: TestApi;
  let client: ApiClient;
  let cookie: string;
  before(async () => {
    ({ api } = google);
    ({ client } = await api.signUp());
    BODIES['google'] = { credential: (await google.provider.issue(newcomer())).idToken };
    cookie = [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  });

  const ask = ({ method }: Endpoint, path: string, headers: RawRequest['headers'] = {}, body?: string) =>
    client.raw({ method, path, headers, ...(body === undefined ? {} : { body }) });

  it('401 without a session', async () => {
    assert.ok(withSession.length > 5);
    for (const endpoint of withSession) {
      const reply = await ask(endpoint, somePath(endpoint));
      assertAnswer(reply, 401, endpoint);
      assert.equal(reply.text, '{"detail":"Unauthorized"}');
    }
  });

  it('403 from another site', async () => {
    for (const endpoint of all.filter(({ method }) => method !== 'GET'))
      assertAnswer(
        await ask(endpoint, somePath(endpoint), { 'sec-fetch-site': 'cross-site' }),
        403,
        endpoint,
      );
  });

  it('404 and 405', async () => {
    for (const endpoint of all) {
      assertAnswer(await ask(endpoint, `${somePath(endpoint)}/nothing/at/all`), 404, endpoint);
      assertAnswer(await client.raw({ method: 'TRACE', path: somePath(endpoint) }), 405, endpoint);
    }
    for (const path of ['/api', '/api/', '/api/%zz', '/api?x', '/nothing', '/%zz'])
      assertAnswer(await client.raw({ method: 'GET', path }), 404);
  });

  it('200 and other statuses with a session', async () => {
    for (const endpoint of withSession) {
      const reply = await ask(endpoint, somePath(endpoint), { cookie });
      assertAnswer(reply, reply.status, endpoint);
      assert.notEqual(reply.status, 401);
      assert.notEqual(reply.status, 500);
    }
    for (const path of ['/api/members', '/api/projects', '/api/activity', '/api/auth/me'])
      assertAnswer(await client.raw({ method: 'GET', path, headers: { cookie } }), 200);
    assertAnswer(await client.raw({ method: 'POST', path: '/api/auth/refresh', headers: { cookie } }), 200);
  });

  it('400 for an invalid query or body', async () => {
    for (const endpoint of withQuery) {
      const name = Object.keys(endpoint.query.shape)[0];
      assertAnswer(
        await ask(endpoint, `${somePath(endpoint)}?${name}=1&${name}=1`, { cookie }),
        400,
        endpoint,
      );
    }
    for (const endpoint of withBody)
      assertAnswer(await ask(endpoint, somePath(endpoint), { cookie, ...json }, '{'), 400, endpoint);
  });

  it('413 for a body that is too large, and the connection closes', async () => {
    for (const endpoint of withBody) {
      const reply = await ask(endpoint, somePath(endpoint), { cookie, ...json }, 'x'.repeat(65_537));
      assertAnswer(reply, 413, endpoint);
      assert.equal(reply.headers['connection'], 'close');
      const error = 'The body is larger than the 65536 bytes that are accepted.';
      assert.deepEqual(JSON.parse(reply.text), { error });
    }
  });

  it('415 for a body that is not JSON', async () => {
    for (const endpoint of withBody)
      assertAnswer(await ask(endpoint, somePath(endpoint), { cookie }, '{}'), 415, endpoint);
  });

  it('have a new request id in each answer, never one from the caller', async () => {
    const given = '11111111-1111-4111-8111-111111111111';
    const path = '/api/members';
    const headers = { cookie, 'x-request-id': given };
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () => (await client.raw({ method: 'GET', path, headers })).headers),
    );
    const seen = new Set([given, ...ids.map((reply) => reply['x-request-id'])]);
    assert.equal(seen.size, 21);
  });

  it('200 for /healthz and /readyz', async () => {
    for (const [path, status] of [
      ['/healthz', 'up'],
      ['/readyz', 'ready'],
    ] as const) {
      const { headers, ...rest } = await client.raw({ method: 'GET', path });
      assertAnswer({ ...rest, headers: { ...headers, 'cache-control': 'no-store' } }, 200);
      assert.deepEqual(JSON.parse(rest.text), { status });
    }
  });

  // Last, because it breaks the database.
  it('500 for an unexpected error, with nothing but the request id', async () => {
    await runSql(api.owner)`ALTER TABLE users RENAME TO canary_users`;
    // One endpoint asks no database.
    for (const endpoint of all.filter(({ name }) => name !== 'getService')) {
      const body = BODIES[endpoint.name];
      const reply = await ask(
        endpoint,
        somePath(endpoint),
        { cookie, ...(body === undefined ? {} : json) },
        body === undefined ? undefined : JSON.stringify(body),
      );
      assertAnswer(reply, 500, endpoint);
      const said = InternalErrorBody.parse(JSON.parse(reply.text));
      assert.deepEqual(said, { error: 'internal error', request_id: reply.headers['x-request-id'] });
      const logged = api.logLines.filter((line) => line['request_id'] === said.request_id);
      assert.deepEqual(
        logged.map((line) => line['msg']),
        ['internal error while handling a request', 'request'],
      );
    }
  });
});

function assertAnswer({ status, headers, text }: RawReply, expected: number, endpoint?: Endpoint): void {
  const where = `${endpoint?.name}: ${status} ${text}`;
  assert.equal(status, expected, where);
  assert.match(String(headers['x-request-id']), UUID, where);
  assert.equal(headers['cache-control'], 'no-store', where);
  assert.equal(headers['content-type'], 'application/json; charset=utf-8', where);
  assert.equal(headers['content-length'], String(Buffer.byteLength(text)), where);
  assert.equal(headers['x-content-type-options'], 'nosniff', where);
  assert.equal(headers['x-frame-options'], 'DENY', where);
  assert.equal(headers['referrer-policy'], 'no-referrer', where);
  assert.equal(headers['cross-origin-opener-policy'], 'same-origin', where);
  assert.equal(headers['cross-origin-resource-policy'], 'same-origin', where);
  assert.match(String(headers['strict-transport-security']), /^max-age=31536000(;|$)/, where);
  const csp = String(headers['content-security-policy']);
  for (const rule of ["default-src 'self'", "object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"])
    assert.ok(csp.split('; ').includes(rule), where);
  // Nothing that reveals the server software.
  assert.equal(headers['server'], undefined, where);
  assert.equal(headers['x-powered-by'], undefined, where);
}
