import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { generateGatewayKey } from '@gatehouse/contract';
import {
  type Database,
  DatabaseUnavailable,
  type NoParameters,
  openDatabase,
  sql,
  statement,
} from '@gatehouse/store';
import { createTestDatabase, type TestDatabase } from '@gatehouse/store/testing';
import { limitStatements } from '../exchange/limit-statements.ts';
import { assertError } from '../testing/bench.ts';
import { completion, json, type MockProvider, startMockProvider } from '../testing/mock-provider.ts';
import { type PostgresProxy, startPostgresProxy } from '../testing/postgres-proxy.ts';
import {
  addRoute,
  type IssuedKey,
  issueKey,
  startTestGateway,
  type TestGateway,
} from '../testing/test-gateway.ts';

const UNAVAILABLE = { status: 503, code: 'service_unavailable', type: 'server_error' };

describe('while PostgreSQL is gone', () => {
  const stack = new AsyncDisposableStack();
  let test: TestDatabase;
  let proxy: PostgresProxy;
  let provider: MockProvider;
  let gateway: TestGateway;
  let key: IssuedKey;
  before(async () => {
    test = stack.use(await createTestDatabase());
    proxy = stack.use(await startPostgresProxy(test.address));
    const database = stack.use(openDatabase(proxy.address));
    provider = stack.use(await startMockProvider(json(completion('x', { prompt: 1, completion: 1 }))));
    gateway = stack.use(await startTestGateway(database));
    key = await issueKey(test.database);
    await addRoute(test.database, { baseUrl: provider.baseUrl });
  });
  after(() => stack.disposeAsync());

  it('503 for every key, known or not, and 200 again when it is back, with nothing done in between', async () => {
    assert.equal((await gateway.chat(key.secret)).status, 200);
    const asked = provider.asked.length;
    await proxy.cut();
    for (const secret of [key.secret, generateGatewayKey(randomBytes)]) {
      const response = await gateway.chat(secret);
      await assertError(response, UNAVAILABLE);
      assert.equal(response.headers.get('retry-after'), '1');
    }
    await assertError(
      await gateway.fetch('/v1/models', { headers: { 'x-api-key': key.secret } }),
      UNAVAILABLE,
    );
    assert.equal(provider.asked.length, asked);
    await proxy.restore();
    assert.equal((await gateway.chat(key.secret)).status, 200);
    assert.deepEqual(
      gateway.logged.filter((line) => line['level'] !== 30),
      [],
    );
    assert.ok(gateway.logged.some((line) => line['remark'] === 'PostgreSQL cannot be used'));
  });

  it('401 for a mistyped key: the database is not asked', async () => {
    await proxy.cut();
    const response = await gateway.chat(
      `${key.secret.slice(0, -2)}${key.secret.endsWith('00') ? '11' : '00'}`,
    );
    await assertError(response, { status: 401, code: 'invalid_api_key', type: 'authentication_error' });
    await proxy.restore();
  });

  it('200 at /healthz, and 503 at /readyz once it is gone for five seconds; asked at most twice a second', async () => {
    const ready = async () => {
      const response = await gateway.fetch('/readyz');
      return [response.status, await response.json()];
    };
    assert.deepEqual(await ready(), [200, { status: 'ready' }]);
    await proxy.cut();
    assert.deepEqual(await ready(), [200, { status: 'ready' }]);
    gateway.time.advance(500);
    assert.deepEqual(await ready(), [200, { status: 'ready' }]);
    gateway.time.advance(4_999);
    assert.deepEqual(await ready(), [200, { status: 'ready' }]);
    gateway.time.advance(500);
    assert.deepEqual(await ready(), [503, { status: 'not ready', missing: ['PostgreSQL cannot be used'] }]);
    assert.equal((await gateway.fetch('/healthz')).status, 200);
    await proxy.restore();
    gateway.time.advance(499);
    assert.equal((await ready())[0], 503);
    gateway.time.advance(1);
    assert.deepEqual(await ready(), [200, { status: 'ready' }]);
    assert.equal((await gateway.fetch('/readyz', { method: 'HEAD' })).status, 200);
  });
});

describe('a request whose key was read before PostgreSQL went away', () => {
  for (const statement of ['gateway-find-route', 'gateway-admit']) {
    it(`503, recorded, when it fails at ${statement}`, async () => {
      await using stack = new AsyncDisposableStack();
      const { database } = stack.use(await createTestDatabase());
      const provider = stack.use(await startMockProvider());
      const failing: Database = {
        ...database,
        async one(query, ...given) {
          if (query.name === statement) throw new DatabaseUnavailable('gone');
          return database.one(query, ...given);
        },
        async many(query, ...given) {
          if (query.name === statement) throw new DatabaseUnavailable('gone');
          return database.many(query, ...given);
        },
      };
      const gateway = stack.use(await startTestGateway(failing));
      const key = await issueKey(database);
      await addRoute(database, { baseUrl: provider.baseUrl });
      const response = await gateway.chat(key.secret);
      await assertError(response, UNAVAILABLE);
      const [record, ...others] = gateway.journal.records;
      assert.deepEqual(others, []);
      assert.deepEqual(
        [record?.status, record?.refusal, record?.costMicroPkr, record?.terminationReason],
        [503, 'service_unavailable', 0n, 'success'],
      );
      // An admission that was not answered may have been done all the same.
      assert.equal(record?.isHeld, statement === 'gateway-admit');
      assert.equal(provider.asked.length, 0);
    });
  }
});

describe('an internal error', () => {
  it('500 without a word of it, logged once and recorded', async () => {
    await using stack = new AsyncDisposableStack();
    const { database } = stack.use(await createTestDatabase());
    const broken: Database = {
      ...database,
      async many(query, ...given) {
        if (query.name === 'gateway-find-route') throw new TypeError('cannot read SELECT of undefined');
        return database.many(query, ...given);
      },
    };
    const gateway = stack.use(await startTestGateway(broken));
    const key = await issueKey(database);
    const response = await gateway.chat(key.secret);
    await assertError(response, { status: 500, code: 'internal_error', type: 'server_error' });
    assert.equal(gateway.logged.filter((line) => line['level'] === 50).length, 1);
    assert.deepEqual(
      gateway.journal.records.map(({ status, refusal }) => [status, refusal]),
      [[500, 'internal_error']],
    );
  });
});

describe('limitStatements', () => {
  it('gives up on a server that says nothing, and passes on what comes in time', async () => {
    const query = statement<NoParameters>('test-limited', sql`SELECT 1`);
    const silent = { one: () => new Promise(() => {}) } as unknown as Database;
    await assert.rejects(limitStatements(silent, 1).one(query), DatabaseUnavailable);
    const failing = { one: () => Promise.reject(new TypeError('no')) } as unknown as Database;
    await assert.rejects(limitStatements(failing, 60_000).one(query), TypeError);
    const answering = { many: async () => [1] } as unknown as Database;
    assert.deepEqual(await limitStatements(answering, 60_000).many(query), [1]);
  });
});
