import assert from 'node:assert/strict';
import { before, beforeEach, describe, it } from 'node:test';
import type { Queryable } from '@gatehouse/store';
import { runSql } from '@gatehouse/store/testing';
import { assertError, useBench } from '../testing/bench.ts';
import { chunk, completion, DONE, delta, json, sse, startMockProvider } from '../testing/mock-provider.ts';
import { addRoute, issueKey, moneyOf, PLATFORM_KEY, startTestGateway } from '../testing/test-gateway.ts';
import { storeVaultKey } from '../testing/vault-key.ts';

const PROVIDER = 'provider of mock/model';
const OWN_KEY = 'sk-own-"quoted"-0123456789';

const removeVaultKey = (database: Queryable, organizationId: string) =>
  runSql(
    database,
  )`DELETE FROM vault_keys WHERE organization_id = ${organizationId} AND provider = ${PROVIDER}`;

const bench = await useBench();

describe("a request with the organisation's own provider key", () => {
  before(async () => {
    await runSql(bench.owner)`
      UPDATE route_targets SET cache_write_micro_pkr_per_million = 87500000, cache_read_micro_pkr_per_million = 7000000
      WHERE route_id = 'mock/model'`;
    await storeVaultKey(bench.database, bench.key, PROVIDER, OWN_KEY);
  });
  beforeEach(() => {
    bench.provider.script = json(completion('x', { prompt: 1_000, completion: 2_000 }));
  });
  const authorization = () => bench.provider.asked.at(-1)?.headers.authorization;

  it('200 with that key, for the fee alone', async () => {
    const response = await bench.gateway.chat(bench.key.secret);
    assert.equal(response.status, 200);
    assert.equal(authorization(), `Bearer ${OWN_KEY}`);
    const record = await bench.recordOf(response);
    // 5 % of 1000 × 70 + 1000 × 560 PKR per million.
    assert.equal(record.costMicroPkr, 31_500n);
    assert.equal(record.isByok, true);
    assert.deepEqual(
      [record.promptTokens, record.cacheReadInputTokens, record.cacheCreationInputTokens, record.totalTokens],
      [1_000, null, null, 2_000],
    );
  });

  it('200 at the full price where the provider takes no key, whatever the vault holds for it', async () => {
    await addRoute(bench.database, { id: 'mock/open', baseUrl: bench.provider.baseUrl, apiKeyEnv: null });
    await storeVaultKey(bench.database, bench.key, 'provider of mock/open', 'junk');
    const response = await bench.gateway.chat(bench.key.secret, { model: 'mock/open' });
    assert.equal(response.status, 200);
    assert.equal(authorization(), undefined);
    const record = await bench.recordOf(response);
    // 1000 × 70 + 1000 × 560 PKR per million: the route generates no more.
    assert.deepEqual([record.isByok, record.costMicroPkr], [false, 630_000n]);
  });

  it('402 where the provider takes no key and the credit does not suffice, whatever the vault holds', async () => {
    const poor = await issueKey(bench.database, { creditLimitMicroPkr: 100_000n });
    await storeVaultKey(bench.database, poor, 'provider of mock/open', 'junk');
    const refused = await bench.gateway.chat(poor.secret, { model: 'mock/open' });
    await assertError(refused, { status: 402, code: 'key_credit_exhausted', type: 'insufficient_quota' });
  });

  it('200 with what the provider says of its cache, as JSON and as a stream', async () => {
    const usage = {
      prompt_tokens: 1_000,
      completion_tokens: 10,
      prompt_tokens_details: { cached_tokens: 600 },
    };
    const whole = json({ ...completion('x'), usage });
    const stream = sse(chunk(delta('x')), chunk(delta('', 'stop')), chunk({ choices: [], usage }), DONE);
    for (const script of [whole, stream]) {
      bench.provider.script = script;
      const response = await bench.gateway.chat(bench.key.secret, { stream: script === stream });
      await response.text();
      const record = await bench.assertRecord(response, {
        promptTokens: 400,
        cacheReadInputTokens: 600,
        cacheCreationInputTokens: null,
        tokensGenerated: 10,
        totalTokens: 1_010,
      });
      // 5 % of 400 × 70 + 600 × 7 + 10 × 560 PKR per million: 37,800 micro-PKR.
      assert.equal(record.costMicroPkr, 1_890n);
    }
    // The same answer on platform capacity says nothing of a cache that is not the caller's.
    bench.provider.script = whole;
    const other = await issueKey(bench.database);
    await bench.assertRecord(await bench.gateway.chat(other.secret), {
      isByok: false,
      promptTokens: 1_000,
      cacheReadInputTokens: null,
      totalTokens: 1_010,
    });
    assert.equal(authorization(), `Bearer ${PLATFORM_KEY}`);
  });

  it('200 without any budget left, and with the same organisation 402 on platform capacity', async () => {
    const key = await issueKey(bench.database, { depositedMicroPkr: 0n });
    const refused = await bench.gateway.chat(key.secret);
    await assertError(refused, { status: 402, code: 'budget_exhausted', type: 'insufficient_quota' });
    await storeVaultKey(bench.database, key, PROVIDER, OWN_KEY);
    const asked = bench.provider.next();
    const answers = await Promise.all(Array.from({ length: 5 }, () => bench.gateway.chat(key.secret)));
    await asked;
    for (const answer of answers) assert.equal(answer.status, 200);
    await removeVaultKey(bench.database, key.organizationId);
    assert.equal((await bench.gateway.chat(key.secret)).status, 402, 'from the next request');
  });

  it("402 when the fee is more than the key's credit, which is set aside in full", async () => {
    // The dearest way to read the prompt is into the cache; the output is the route's maximum.
    const worst = async (creditLimitMicroPkr: bigint) => {
      const key = await issueKey(bench.database, { creditLimitMicroPkr });
      await storeVaultKey(bench.database, key, PROVIDER, OWN_KEY);
      return key;
    };
    const rich = await worst(10n ** 12n);
    const arrived = bench.provider.next();
    const { promise: go, resolve: release } = Promise.withResolvers<void>();
    bench.provider.script = async (response, asked) => {
      await go;
      await json(completion('x', { prompt: 1, completion: 1 }))(response, asked);
    };
    const answer = bench.gateway.chat(rich.secret);
    await arrived;
    const { keyHeld, balanceHeld } = await moneyOf(bench.database, rich.id);
    assert.equal(balanceHeld, keyHeld);
    // Output: 5 % of 1000 × 560 PKR per million is 28,000 micro-PKR. The prompt is a few tokens more.
    assert.ok(keyHeld > 28_000n && keyHeld < 28_200n, String(keyHeld));
    release();
    assert.equal((await answer).status, 200);

    bench.provider.script = json(completion('x', { prompt: 1, completion: 1 }));
    const exact = await worst(keyHeld);
    assert.equal((await bench.gateway.chat(exact.secret)).status, 200);
    const poor = await worst(keyHeld - 1n);
    const refused = await bench.gateway.chat(poor.secret);
    await assertError(refused, { status: 402, code: 'key_credit_exhausted', type: 'insufficient_quota' });
  });

  it('holds for that provider alone: the key goes to its host and to no other', async () => {
    await using elsewhere = await startMockProvider();
    await addRoute(bench.database, { id: 'mock/elsewhere', baseUrl: elsewhere.baseUrl });
    const response = await bench.gateway.chat(bench.key.secret, { model: 'mock/elsewhere' });
    assert.equal(response.status, 200);
    assert.equal((await bench.recordOf(response)).isByok, false);
    assert.ok(!JSON.stringify(elsewhere.asked).includes('sk-own'));
    // A redirect would take it along.
    bench.provider.script = (answer) => {
      answer.writeHead(307, { location: `${elsewhere.baseUrl}/chat/completions` }).end();
    };
    assert.equal((await bench.gateway.chat(bench.key.secret)).status, 502);
    assert.equal(elsewhere.asked.length, 1);
  });

  it("401 of the provider's as it came but for the key, which is in no log and no record", async () => {
    const lines = bench.gateway.logged.length;
    const escaped = JSON.stringify(OWN_KEY).slice(1, -1);
    bench.provider.script = json({ error: { message: `Incorrect API key: ${OWN_KEY}`, code: 'bad' } }, 401);
    const response = await bench.gateway.chat(bench.key.secret);
    assert.equal(response.status, 401);
    const text = await response.text();
    assert.deepEqual(JSON.parse(text), { error: { message: 'Incorrect API key: [redacted]', code: 'bad' } });
    const record = await bench.recordOf(response);
    assert.equal(record.upstreamError, 'Incorrect API key: [redacted]');
    assert.deepEqual([record.costMicroPkr, record.isByok], [0n, true]);

    bench.provider.script = sse(chunk({ error: { message: `what is ${OWN_KEY}?` } }), DONE);
    const stream = await bench.gateway.chat(bench.key.secret, { stream: true });
    await stream.text();
    assert.equal((await bench.recordOf(stream)).upstreamError, 'what is [redacted]?');
    const logged = JSON.stringify(bench.gateway.logged.slice(lines));
    for (const secret of [OWN_KEY, escaped, '0123456789']) assert.ok(!logged.includes(secret));
  });

  it('changes on every gateway from the next request', async () => {
    await using other = await startTestGateway(bench.database);
    const key = await issueKey(bench.database);
    for (let round = 0; round < 20; round += 1) {
      const own = `sk-round-${round}-0123456789`;
      await storeVaultKey(bench.database, key, PROVIDER, own);
      for (const gateway of [bench.gateway, other]) {
        assert.equal((await gateway.chat(key.secret)).status, 200);
        assert.equal(authorization(), `Bearer ${own}`);
      }
      await removeVaultKey(bench.database, key.organizationId);
      for (const gateway of [bench.gateway, other]) {
        assert.equal((await gateway.chat(key.secret)).status, 200);
        assert.equal(authorization(), `Bearer ${PLATFORM_KEY}`);
      }
    }
  });
});
