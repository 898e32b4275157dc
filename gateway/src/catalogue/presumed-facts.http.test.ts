import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Database } from '@gatehouse/store';
import { rawSql, runSql } from '@gatehouse/store/testing';
import { useBench } from '../testing/bench.ts';
import { completion, json } from '../testing/mock-provider.ts';
import {
  addRoute,
  type IssuedKey,
  issueKey,
  startTestGateway,
  type TestGateway,
} from '../testing/test-gateway.ts';
import { storeVaultKey } from '../testing/vault-key.ts';

const bench = await useBench();

// Every fact is read by the first request of a test, so that what follows could be judged by what is remembered.
describe('a request whose facts are presumed', () => {
  /** The statements that are asked, in order; of admissions those that judge. */
  const asked: string[] = [];
  /** A hook that runs before the gateway has the answer of a statement that admits. */
  let meanwhile: () => Promise<void>;
  let gateway: TestGateway;
  let key: IssuedKey;
  /** A route and a provider of each test's own. */
  let tests = 0;
  let model: string;
  let provider: string;
  before(async () => {
    // The statement also gives back the surplus of requests that have ended, alone where nothing is to be admitted.
    const isAdmission = (name: string, given: readonly unknown[]) =>
      name === 'gateway-admit' && (given[0] as { requestIds: unknown[] }).requestIds.length > 0;
    const note = (name: string, given: readonly unknown[]) => {
      if (name !== 'gateway-admit' || isAdmission(name, given)) asked.push(name);
    };
    const watched: Database = {
      ...bench.database,
      one(query, ...given) {
        note(query.name, given);
        return bench.database.one(query, ...given);
      },
      async many(query, ...given) {
        note(query.name, given);
        const rows = await bench.database.many(query, ...given);
        if (isAdmission(query.name, given)) await meanwhile();
        return rows;
      },
    };
    gateway = await startTestGateway(watched);
  });
  after(() => gateway?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    meanwhile = async () => undefined;
    bench.provider.script = json(completion('x', { prompt: 10, completion: 10 }));
    tests += 1;
    model = `facts/${tests}`;
    provider = `facts-${tests}`;
    await addRoute(bench.database, { id: model, provider, baseUrl: bench.provider.baseUrl });
    key = await issueKey(bench.database);
    assert.equal((await ask()).status, 200);
    asked.length = 0;
  });

  const ask = async (body: object = {}) => {
    const response = await gateway.chat(key.secret, { model, ...body });
    const { error } = (await response.json()) as { error?: { code: string } };
    return { status: response.status, code: error?.code, headers: response.headers };
  };
  const onKey = (change: string) =>
    runSql(bench.owner)`UPDATE api_keys SET ${rawSql(change)} WHERE id = ${key.id}`;
  const lastRecord = () => gateway.journal.records.at(-1) ?? assert.fail('nothing was recorded');

  it('200 with one statement, which admits it', async () => {
    for (let count = 0; count < 3; count += 1) assert.equal((await ask()).status, 200);
    assert.deepEqual(asked, ['gateway-admit', 'gateway-admit', 'gateway-admit']);
  });

  it('200 with two statements where the body comes after the headers', async () => {
    const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] });
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${key.secret}\r\ncontent-length: ${body.length}\r\n\r\n`;
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write(head);
    while (asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    socket.write(body);
    let text = '';
    for await (const chunk of socket) text += chunk;
    assert.match(text, /^HTTP\/1\.1 200 /);
    assert.deepEqual(asked, ['gateway-list-keys', 'gateway-admit']);
  });

  for (const [title, change, status, code] of [
    ['revoked', 'revoked_at = clock_timestamp()', 401, 'invalid_api_key'],
    ['expired', 'expires_at = clock_timestamp()', 401, 'key_expired'],
    ['restricted', `allowed_models = ARRAY['other']`, 403, 'model_not_allowed'],
    ['slowed down', 'rate_limit_rpm = 1', 429, 'rate_limit_exceeded'],
    ['limited', 'credit_limit_micro_pkr = 1', 402, 'key_credit_exhausted'],
  ] as const) {
    it(`${status} ${code} from the next request once its key is ${title}`, async () => {
      await onKey(change);
      const dispatched = bench.provider.asked.length;
      const answer = await ask();
      assert.deepEqual([answer.status, answer.code], [status, code]);
      assert.equal(bench.provider.asked.length, dispatched);
      assert.equal(asked[0], 'gateway-admit', 'it was presumed');
    });
  }

  it('404 from the next request once its route is switched off, and 200 once it is on again', async () => {
    for (const [isActive, status] of [
      [false, 404],
      [true, 200],
    ] as const) {
      await runSql(bench.owner)`UPDATE routes SET is_active = ${isActive} WHERE id = ${model}`;
      assert.equal((await ask()).status, status);
    }
  });

  it('200 at the new price from the next request once the price of its route has changed', async () => {
    const before = lastRecord().costMicroPkr;
    await runSql(bench.owner)`
      UPDATE route_targets SET output_micro_pkr_per_million = 2 * output_micro_pkr_per_million,
                               input_micro_pkr_per_million = 2 * input_micro_pkr_per_million
      WHERE route_id = ${model}`;
    assert.equal((await ask()).status, 200);
    assert.equal(lastRecord().costMicroPkr, 2n * before);
    assert.deepEqual(asked, ['gateway-admit', 'gateway-list-keys', 'gateway-find-route', 'gateway-admit']);
  });

  it('200 on its own provider key from the next request once one is stored, and on the platform once it is removed', async () => {
    await storeVaultKey(bench.database, key, provider, 'sk-own');
    assert.equal((await ask()).status, 200);
    assert.equal(lastRecord().isByok, true);
    asked.length = 0;
    assert.equal((await ask()).status, 200);
    assert.deepEqual([lastRecord().isByok, asked], [true, ['gateway-admit']]);
    await runSql(bench.owner)`DELETE FROM vault_keys WHERE organization_id = ${key.organizationId}`;
    assert.equal((await ask()).status, 200);
    assert.equal(lastRecord().isByok, false);
  });

  it('200 from the next request once its key is allowed more, which nothing presumed may refuse', async () => {
    await onKey(`allowed_models = ARRAY['other'], rate_limit_rpm = 4`);
    assert.equal((await ask()).status, 403);
    await onKey('allowed_models = NULL');
    assert.equal((await ask()).status, 200);
    assert.equal((await ask()).status, 200);
    assert.equal((await ask()).status, 429);
    await onKey('rate_limit_rpm = 5');
    assert.equal((await ask()).status, 200);
    assert.equal((await ask({ model: 'facts/new' })).status, 429);
    await onKey('rate_limit_rpm = 100');
    assert.equal((await ask({ model: 'facts/new' })).status, 404);
    await addRoute(bench.database, {
      id: 'facts/new',
      provider: 'facts-new',
      baseUrl: bench.provider.baseUrl,
    });
    assert.equal((await ask({ model: 'facts/new' })).status, 200);
  });

  it('200, counted once, where it is prepared again', async () => {
    await onKey('rate_limit_rpm = 3');
    const first = await ask();
    assert.deepEqual([first.status, first.headers.get('x-ratelimit-remaining-requests')], [200, '1']);
    await runSql(bench.owner)`UPDATE routes SET timeout_ms = timeout_ms + 1 WHERE id = ${model}`;
    const second = await ask();
    assert.deepEqual([second.status, second.headers.get('x-ratelimit-remaining-requests')], [200, '0']);
    assert.equal((await ask()).status, 429);
  });

  it('499 of a caller that left while it was prepared with facts that have changed, which is no internal error', async () => {
    const started = Promise.withResolvers<Socket>();
    const note = (message: unknown) => started.resolve((message as { socket: Socket }).socket);
    subscribe('http.server.request.start', note);
    await runSql(bench.owner)`UPDATE routes SET timeout_ms = timeout_ms + 1 WHERE id = ${model}`;
    const leaving = new AbortController();
    meanwhile = async () => {
      const closed = once(await started.promise, 'close');
      leaving.abort();
      await closed;
    };
    const { length } = gateway.journal.records;
    const answer = gateway.chat(key.secret, { model }, { signal: leaving.signal });
    await assert.rejects(answer, { name: 'AbortError' });
    await gateway.journal.count(length + 1);
    unsubscribe('http.server.request.start', note);
    const { status, terminationReason, costMicroPkr } = lastRecord();
    assert.deepEqual([status, terminationReason, costMicroPkr], [499, 'client_disconnect', 0n]);
    assert.deepEqual(
      gateway.logged.filter(({ event }) => event === 'request.internal_error'),
      [],
    );
  });

  it('401 of a revoked key for whatever body, and nothing is recorded', async () => {
    await onKey('revoked_at = clock_timestamp()');
    const { length } = gateway.journal.records;
    for (const body of [{}, { messages: 1 }, { model: 'none' }]) assert.equal((await ask(body)).status, 401);
    const encoded = await gateway.chat(key.secret, {}, { headers: { 'content-encoding': 'gzip' } });
    assert.equal(encoded.status, 401);
    assert.equal(gateway.journal.records.length, length);
  });

  it('415 and 400 as before, after the key was read', async () => {
    const encoded = await gateway.chat(key.secret, {}, { headers: { 'content-encoding': 'gzip' } });
    assert.equal(encoded.status, 415);
    assert.deepEqual(asked, ['gateway-list-keys']);
    assert.equal((await ask({ messages: 1 })).status, 400);
  });
});
