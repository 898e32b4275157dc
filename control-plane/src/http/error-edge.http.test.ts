import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type Endpoint, ErrorBody, endpoints } from '@gatehouse/contract';
import {
  createTelemetryClient,
  fixedKeyRing,
  openDatabase,
  type PostgresAddress,
  SERVICE_TIMEOUTS,
} from '@gatehouse/store';
import { runSql } from '@gatehouse/store/testing';
import { pino } from 'pino';
import { createControlPlane } from '../app.ts';
import { ApiClient, type RawReply } from '../testing/api-client.ts';
import { duringTests } from '../testing/during-tests.ts';
import { newcomer } from '../testing/google-api.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../testing/openid-provider.ts';
import { somePath } from '../testing/paths.ts';
import { startTestApi, TEST_PASSWORD, TEST_SETTINGS } from '../testing/test-api.ts';

const all = endpoints as readonly Endpoint[];

const BODIES: Record<string, unknown> = {
  register: { email: 'a@example.com', password: 'correct horse battery', organization_name: 'A' },
  login: { email: 'a@example.com', password: 'correct horse battery' },
  setVaultKey: { provider: 'openai', api_key: 'sk-a' },
};

// Words that only a database, a driver or a stack trace would use, in any case.
const LEAKS =
  /pg_|postgres|sql|select|insert|relation|column|constraint|violat|syntax|canary|econn|enoent|socket|\/tmp|\.ts\b|\bat \/|node_modules|stack|argon/i;

describe('database errors', () => {
  const api = duringTests(() => startTestApi({}, { timeouts: SERVICE_TIMEOUTS }));
  let client: ApiClient;
  let email: string;
  before(async () => {
    ({ client, email } = await api.signUp());
  });

  const cookie = () => [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const ask = (path: string, headers = {}, method = 'GET', body?: unknown) =>
    client.raw({
      method,
      path,
      headers: {
        cookie: cookie(),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  it('500 for a violated constraint, with nothing of it in the answer and nothing of the row in the log', async () => {
    await runSql(api.owner)`
      ALTER TABLE users ADD CONSTRAINT canary_rule CHECK (email <> 'canary@example.com')`;
    const before = api.logLines.length;
    const body = { ...(BODIES['register'] as object), email: 'canary@example.com' };
    const reply = await ask('/api/auth/register', {}, 'POST', body);
    assertInternal(reply);
    const logged = JSON.stringify(api.logLines.slice(before));
    // The log names the constraint and does not contain the hash that was to be stored.
    assert.match(logged, /canary_rule/);
    assert.match(logged, /"stack":"/);
    assert.ok(!logged.includes('argon2'), logged);
    assert.ok(!logged.includes('canary@example.com'), logged);
    assert.equal((await ask('/api/members')).status, 200);
  });

  it('500 for a missing table, and 200 again once it is back', async () => {
    await runSql(api.owner)`ALTER TABLE projects RENAME TO canary_projects`;
    assertInternal(await ask('/api/projects'));
    await runSql(api.owner)`ALTER TABLE canary_projects RENAME TO projects`;
    assert.equal((await ask('/api/projects')).status, 200);
  });

  it('500 when the log cannot be written, and nothing else is written either', async () => {
    await runSql(api.owner)`ALTER TABLE activity_heads RENAME TO canary_heads`;
    const counts = () =>
      runSql(api.database)`
        SELECT (SELECT count(*) FROM organizations) AS organizations, (SELECT count(*) FROM users) AS users,
        (SELECT count(*) FROM sessions) AS sessions, (SELECT count(*) FROM deposits) AS deposits`;
    const before = await counts();
    assertInternal(await ask('/api/auth/register', {}, 'POST', BODIES['register']));
    assertInternal(await ask('/api/auth/login', {}, 'POST', { email, password: TEST_PASSWORD }));
    assertInternal(await ask('/api/auth/logout', {}, 'POST'));
    assert.deepEqual(await counts(), before);
    await runSql(api.owner)`ALTER TABLE canary_heads RENAME TO activity_heads`;
    assert.equal((await ask('/api/auth/me')).status, 200);
  });

  it('503 while a lock is held for too long, and 200 afterwards', async () => {
    const holder = await api.owner.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('LOCK TABLE projects IN ACCESS EXCLUSIVE MODE');
      const [waiting, other] = await Promise.all([ask('/api/projects'), ask('/api/members')]);
      assertUnavailable(waiting);
      assert.equal(other.status, 200);
    } finally {
      await holder.end();
    }
    assert.equal((await ask('/api/projects')).status, 200);
  });

  it('200 soon after the server has ended every connection', async () => {
    await ask('/api/members');
    await runSql(api.owner)`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`;
    // Each pooled connection whose end was not noticed yet causes one 503.
    const statuses: number[] = [];
    while (statuses.at(-1) !== 200 && statuses.length < 9) statuses.push((await ask('/api/members')).status);
    assert.equal(statuses.at(-1), 200);
    assert.ok(statuses.slice(0, -1).every((status) => status === 503));
  });
});

describe('an unavailable database', () => {
  let provider: OpenIdProvider;
  before(async () => {
    provider = await startOpenIdProvider();
    BODIES['google'] = { credential: (await provider.issue(newcomer())).idToken };
  });
  after(() => provider[Symbol.asyncDispose]());

  it('503 for every endpoint when there is no server', async () => {
    await using service = await startWithout(
      { host: '/nonexistent', port: 5432, user: 'x', database: 'x' },
      provider,
    );
    await assertAllUnavailable(service.client);
    const ready = await service.client.raw({ method: 'GET', path: '/readyz' });
    assert.equal(ready.status, 503);
    const alive = await service.client.raw({ method: 'GET', path: '/healthz' });
    assert.equal(alive.status, 200);
  });

  it('503 at /readyz and the end of each connection once a stop is announced, while the rest is served', async () => {
    await using service = await startWithout(
      { host: '/nonexistent', port: 5432, user: 'x', database: 'x' },
      provider,
    );
    const ask = async (path: string) => {
      const { status, headers, text } = await service.client.raw({ method: 'GET', path });
      return [status, headers['connection'], text];
    };
    const [status] = await ask('/api/service');
    assert.equal(status, 200);
    service.announceStop();
    const missing = '{"status":"not ready","missing":["the service is stopping"]}';
    assert.deepEqual(await ask('/readyz'), [503, 'close', missing]);
    const [served, connection] = await ask('/api/service');
    assert.deepEqual([served, connection], [200, 'close']);
  });

  for (const [title, answer] of [
    ['hangs up', undefined],
    ['is starting', startupRefusal('57P03', 'the database system is starting up')],
    ['is shutting down', startupRefusal('57P01', 'terminating connection due to administrator command')],
    ['has no connection left', startupRefusal('53300', 'sorry, too many clients already')],
  ] as const) {
    it(`503 for every endpoint when the server ${title}`, async () => {
      await using server = await pretendServer(answer);
      await using service = await startWithout(
        { ...server.address, user: 'canary', database: 'canary' },
        provider,
      );
      await assertAllUnavailable(service.client);
    });
  }
});

async function assertAllUnavailable(client: ApiClient): Promise<void> {
  for (const { method, path, name, ...rest } of all) {
    const endpoint = { method, path, name, ...rest };
    const body = BODIES[name];
    const reply = await client.raw({
      method,
      path: somePath(endpoint),
      headers: {
        cookie: 'svc_access_token=a; svc_refresh_token=b',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    // It asks no database, so that a page can say what is the matter.
    if (name === 'getService') assert.equal(reply.status, 200, reply.text);
    else assertUnavailable(reply);
  }
}

function assertInternal({ status, text, headers }: RawReply): void {
  assert.equal(status, 500, text);
  assert.equal(text, `{"error":"internal error","request_id":"${headers['x-request-id']}"}`);
  assert.ok(!LEAKS.test(JSON.stringify(headers)));
}

function assertUnavailable({ status, text, headers }: RawReply): void {
  assert.equal(status, 503, text);
  assert.ok(ErrorBody.safeParse(JSON.parse(text)).success);
  assert.equal(headers['retry-after'], '1');
  assert.ok(!LEAKS.test(text), text);
}

/** The API on a database that does not exist. */
async function startWithout(
  address: PostgresAddress,
  google: OpenIdProvider,
): Promise<{ client: ApiClient; announceStop: () => void } & AsyncDisposable> {
  const stack = new AsyncDisposableStack();
  const server = createControlPlane({
    database: stack.use(openDatabase(address)),
    telemetry: stack.adopt(createTelemetryClient({ url: 'http://127.0.0.1:1' }), (client) => client.close()),
    keyRing: fixedKeyRing([]),
    log: pino({ level: 'silent' }),
    settings: { ...TEST_SETTINGS, google },
  });
  stack.defer(() => server.close());
  await server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = server.server.address() as { port: number };
  return {
    client: new ApiClient(port),
    announceStop: server.announceStop,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** A server in place of PostgreSQL that sends these bytes to every client and closes the connection. */
async function pretendServer(
  answer: Buffer | undefined,
): Promise<{ address: { host: string; port: number } } & AsyncDisposable> {
  const server = createServer((socket: Socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => (answer ? socket.end(answer) : socket.destroy()));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    address: { host: '127.0.0.1', port },
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, 'close');
    },
  };
}

/** PostgreSQL's message for an error, with the fields that it always has. */
function startupRefusal(code: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0Fpostmaster.c\0\0`);
  const length = Buffer.alloc(4);
  length.writeInt32BE(fields.length + 4);
  return Buffer.concat([Buffer.from('E'), length, fields]);
}
