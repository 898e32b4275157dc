import assert from 'node:assert/strict';
import { afterEach, before, describe, it } from 'node:test';
import { runSql } from '@gatehouse/store/testing';
import { requestIdOf, useBench } from '../testing/bench.ts';
import { claudeCodeBody } from '../testing/claude-code-body.ts';
import { json } from '../testing/mock-provider.ts';
import { assertNoDelays } from '../testing/no-delays.ts';
import { addRoute, issueKey, moneyOf, PLATFORM_KEY, ROUTE_TIMEOUT_MS } from '../testing/test-gateway.ts';
import { storeVaultKey } from '../testing/vault-key.ts';

const MODEL = 'mock/claude';
const messages = [{ role: 'user', content: 'Hi' }];

const bench = await useBench();

describe('POST /v1/messages/count_tokens', () => {
  before(async () => {
    const { baseUrl } = bench.provider;
    const route = { endpoints: ['messages'], baseUrl };
    await addRoute(bench.database, { ...route, id: MODEL, protocol: 'anthropic' });
    await addRoute(bench.database, {
      ...route,
      id: 'mock/keyless',
      protocol: 'anthropic',
      apiKeyEnv: 'UNSET',
    });
    await addRoute(bench.database, { ...route, id: 'mock/openai' });
    await addRoute(bench.database, {
      ...route,
      id: 'mock/nowhere',
      protocol: 'anthropic',
      baseUrl: 'http://127.0.0.1:1',
    });
  });
  afterEach(async () => {
    bench.provider.asked.length = 0;
    await assertNoDelays(bench.gateway.time);
  });

  const count = (body: object | string = {}, secret = bench.key.secret, init: RequestInit = {}) =>
    bench.gateway.post(
      '/v1/messages/count_tokens?beta=true',
      secret,
      typeof body === 'string' ? body : { model: MODEL, messages, ...body },
      init,
    );
  const assertCounted = async (
    response: Response,
    tokens: number,
    type = 'application/json; charset=utf-8',
  ) => {
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), type);
    assert.deepEqual(await response.json(), { input_tokens: tokens });
  };

  it("200 with the provider's own count, at no cost and without tokens", async () => {
    bench.provider.script = json('{"input_tokens": 14, "more": 1.0}', 200, { 'request-id': 'req_1' });
    const response = await count({ system: 'Be kind.' });
    assert.equal(response.status, 200);
    assert.equal(await response.text(), '{"input_tokens": 14, "more": 1.0}');
    assert.equal(response.headers.get('x-upstream-request-id'), 'req_1');
    await bench.assertRecord(response, {
      status: 200,
      model: MODEL,
      promptTokens: null,
      tokensGenerated: 0,
      totalTokens: 0,
      costMicroPkr: 0n,
      isHeld: false,
      isByok: false,
      terminationReason: 'success',
    });
    const [asked] = bench.provider.asked;
    assert.deepEqual([asked?.path, asked?.headers['x-api-key']], ['/v1/messages/count_tokens', PLATFORM_KEY]);
    assert.deepEqual(asked?.body, { model: 'upstream-model', messages, system: 'Be kind.' });
  });

  it('200 for the body of a coding agent, of which only the model is changed', async () => {
    bench.provider.script = json({ input_tokens: 20_000 });
    const body = claudeCodeBody({ model: MODEL });
    const response = await count(body, bench.key.secret, {
      headers: { 'anthropic-beta': 'token-counting-2024-11-01' },
    });
    await response.text();
    const [asked] = bench.provider.asked;
    assert.equal(asked?.text, body.replace(`"model":"${MODEL}"`, '"model":"upstream-model"'));
    assert.equal(asked?.headers['anthropic-beta'], 'token-counting-2024-11-01');
  });

  it('200 counted here where the provider has no such surface, no credential, or no address that answers', async () => {
    for (const model of ['mock/openai', 'mock/keyless', 'mock/nowhere']) {
      const response = await count({ model });
      await assertCounted(response, 8);
      await bench.assertRecord(response, { status: 200, model, promptTokens: null, costMicroPkr: 0n });
    }
    assert.equal(bench.provider.asked.length, 0);
  });

  for (const status of [404, 405, 501]) {
    it(`200 counted here when the provider answers ${status}`, async () => {
      bench.provider.script = json({ type: 'error', error: { message: 'no such path' } }, status);
      await assertCounted(await count(), 8);
      assert.equal(bench.provider.asked.length, 1);
    });
  }

  for (const answer of ['{"input_tokens":"14"}', '{"input_tokens":-1}', '[14]', 'none', '{}']) {
    it(`200 counted here when the provider answers ${answer}`, async () => {
      bench.provider.script = json(answer);
      await assertCounted(await count(), 8);
    });
  }

  it("200 counted here when the provider rejects the platform's credential, with an error for the operator", async () => {
    bench.provider.script = json({ type: 'error', error: { message: 'invalid x-api-key' } }, 401);
    bench.gateway.logged.length = 0;
    await assertCounted(await count(), 8);
    const errors = bench.gateway.logged.filter(({ level }) => level === 50);
    assert.deepEqual(
      errors.map(({ event }) => event),
      ['provider.credential_rejected'],
    );
  });

  it("200 counted here, and nothing sent with the platform's key, for what is refused by name on it", async () => {
    const own = await issueKey(bench.database);
    await storeVaultKey(bench.database, own, `provider of ${MODEL}`, 'sk-ant-own-0123456789');
    bench.provider.script = json({ input_tokens: 14 });
    for (const members of [
      { thread: { type: 'continue', previous_message_id: 'msg_1' } },
      { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
    ]) {
      const response = await count(members);
      assert.equal(response.status, 200);
      assert.notDeepEqual(await response.json(), { input_tokens: 14 });
      assert.equal(bench.provider.asked.length, 0);
      await assertCounted(await count(members, own.secret), 14, 'application/json');
      bench.provider.asked.length = 0;
    }
  });

  it("401 of the provider to the organisation's own key, as it came", async () => {
    const own = await issueKey(bench.database);
    await storeVaultKey(bench.database, own, `provider of ${MODEL}`, 'sk-ant-own-0123456789');
    const body = '{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}';
    bench.provider.script = json(body, 401);
    const response = await count({}, own.secret);
    assert.deepEqual([response.status, await response.text()], [401, body]);
    assert.equal(bench.provider.asked[0]?.headers['x-api-key'], 'sk-ant-own-0123456789');
    await bench.assertRecord(response, { status: 401, isByok: true, costMicroPkr: 0n });
  });

  for (const status of [400, 413, 429, 500, 529]) {
    it(`${status} of the provider as it came`, async () => {
      const body = '{"type": "error","error":{"type":"x","message":"no"}}';
      bench.provider.script = json(body, status);
      const response = await count();
      assert.deepEqual([response.status, await response.text()], [status, body]);
    });
  }

  it('200 whatever is left of the credit, and nothing is held while the provider is asked', async () => {
    const poor = await issueKey(bench.database, { creditLimitMicroPkr: 1n, depositedMicroPkr: 0n });
    const { promise: goOn, resolve: go } = Promise.withResolvers<void>();
    bench.provider.script = async (response, asked) => {
      await goOn;
      await json({ input_tokens: 9 })(response, asked);
    };
    const asked = bench.provider.next();
    const answer = count({ stream: true, max_tokens: 64_000 }, poor.secret);
    await asked;
    const { keyHeld, holds } = await moneyOf(bench.database, poor.id);
    assert.deepEqual([keyHeld, holds], [0n, 0n]);
    go();
    assert.equal((await answer).status, 200);
  });

  it('504 in the form of Anthropic when the time of the route is up, at no cost', async () => {
    bench.provider.script = () => {};
    const asked = bench.provider.next();
    const answer = count();
    await asked;
    bench.gateway.time.fire(ROUTE_TIMEOUT_MS);
    const response = await answer;
    assert.equal(response.status, 504);
    const { type, request_id: id } = (await response.json()) as Record<string, unknown>;
    assert.deepEqual([type, id], ['error', requestIdOf(response)]);
    await bench.assertRecord(response, { terminationReason: 'proxy_guillotine', costMicroPkr: 0n });
  });

  it('499 at no cost for a caller that leaves, and the provider is aborted at once', async () => {
    bench.provider.script = () => {};
    const asked = bench.provider.next();
    const leaving = new AbortController();
    const records = bench.gateway.journal.records.length;
    const answer = count({}, bench.key.secret, { signal: leaving.signal });
    const { aborted } = await asked;
    leaving.abort();
    await assert.rejects(answer);
    await aborted;
    await bench.gateway.journal.count(records + 1);
    const record = bench.gateway.journal.records.at(-1);
    assert.deepEqual([record?.status, record?.costMicroPkr, record?.promptTokens], [499, 0n, null]);
  });

  it('refuses as every endpoint does: 400, 401, 403, 404, 429', async () => {
    const limited = await issueKey(bench.database, { allowedModels: ['mock/model'] });
    const expired = await issueKey(bench.database, { expiresIn: '-1 second' });
    const slow = await issueKey(bench.database, { rateLimitRpm: 1 });
    bench.provider.script = json({ input_tokens: 9 });
    await count({}, slow.secret);
    for (const [status, type, response] of [
      [400, 'invalid_request_error', await count({ messages: [] })],
      [400, 'invalid_request_error', await count('{')],
      [401, 'authentication_error', await count({}, 'sk_svc_no')],
      [401, 'authentication_error', await count({}, expired.secret)],
      [403, 'permission_error', await count({}, limited.secret)],
      [404, 'not_found_error', await count({ model: 'mock/none' })],
      // A route that answers no messages.
      [404, 'not_found_error', await count({ model: 'mock/model' })],
      [429, 'rate_limit_error', await count({}, slow.secret)],
    ] as const) {
      const { error } = (await response.json()) as { error: { type: string } };
      assert.deepEqual([response.status, error.type], [status, type]);
    }
  });

  it('is recorded with its headers, and beyond a rate in counted rows without them, since it costs nothing', async () => {
    const busy = await issueKey(bench.database);
    bench.provider.script = json({ input_tokens: 9 });
    const before = bench.gateway.journal.records.length;
    for (let asked = 0; asked < 70; asked += 1) {
      const response = await count({}, busy.secret, {
        headers: { 'x-svc-meta-team': 'red', 'user-agent': 'u'.repeat(500) },
      });
      assert.equal(response.status, 200);
    }
    const rows = bench.gateway.journal.records.slice(before);
    assert.equal(rows.length, 60);
    assert.ok(
      rows.every(({ metadata, userAgent }) => metadata.get('team') === 'red' && userAgent.length === 500),
    );
    bench.gateway.time.fire(10_000);
    await bench.gateway.journal.count(before + 61);
    const counted = bench.gateway.journal.records.at(-1);
    assert.deepEqual([counted?.requestCount, counted?.metadata.size, counted?.userAgent.length], [10, 0, 64]);
  });

  it("never asks the provider with the platform's key where the organisation has stored one that is broken", async () => {
    const own = await issueKey(bench.database);
    const provider = `provider of ${MODEL}`;
    await storeVaultKey(bench.database, own, provider, 'sk-ant-own-0123456789');
    await runSql(bench.database)`
      UPDATE vault_keys SET sealed_key = set_byte(sealed_key, 0, get_byte(sealed_key, 0) # 1)
      WHERE organization_id = ${own.organizationId}`;
    await assertCounted(await count({}, own.secret), 8);
    assert.equal(bench.provider.asked.length, 0);
  });
});
