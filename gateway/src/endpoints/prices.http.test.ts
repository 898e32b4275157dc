import assert from 'node:assert/strict';
import { afterEach, before, describe, it } from 'node:test';
import { runSql } from '@gatehouse/store/testing';
import { useBench } from '../testing/bench.ts';
import { chunk, completion, DONE, delta, json, type Script, sse } from '../testing/mock-provider.ts';
import { LONG_PROMPTS } from '../testing/prices.ts';
import { addRoute, issueKey, moneyOf } from '../testing/test-gateway.ts';
import { storeVaultKey } from '../testing/vault-key.ts';

const MODEL = 'mock/priced';
const bench = await useBench();

describe('what the parts of a request cost', () => {
  before(async () => {
    await addRoute(bench.database, {
      ...LONG_PROMPTS,
      id: MODEL,
      baseUrl: bench.provider.baseUrl,
      microPkrPerCall: Object.fromEntries(LONG_PROMPTS.microPkrPerCall),
      maxInputTokens: 400_000,
      allow: [{ member: 'web_search_options', values: null }],
    });
  });
  afterEach(() => {
    bench.gateway.logged.length = 0;
  });
  const asJson = (usage: object): Script => json({ ...completion('Hello'), usage });
  const asStream = (usage: object): Script =>
    sse(chunk(delta('Hello')), chunk(delta('', 'stop')), chunk({ choices: [], usage }), DONE);
  const ask = async (script: Script, secret = bench.key.secret, body: object = {}) => {
    bench.provider.script = script;
    const response = await bench.gateway.chat(secret, { model: MODEL, ...body });
    assert.equal(response.status, 200);
    await response.text();
    return bench.recordOf(response);
  };
  const usage = {
    prompt_tokens: 12_312,
    completion_tokens: 550,
    total_tokens: 12_862,
    prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 12_304 },
    completion_tokens_details: { reasoning_tokens: 500 },
  };
  const cost = 3n * 1_000n + 5n * 100n + 12_304n * 1_250n + 550n * 5_000n;

  it('200 with cached tokens at the cache prices on platform capacity, whose row does not show them', async () => {
    for (const stream of [false, true]) {
      const script = stream ? asStream(usage) : asJson(usage);
      const record = await ask(script, bench.key.secret, { stream });
      assert.deepEqual(record, {
        ...record,
        promptTokens: 12_312,
        tokensGenerated: 550,
        totalTokens: 12_862,
        cacheCreationInputTokens: null,
        cacheReadInputTokens: null,
        tokensEstimated: false,
        upstreamError: null,
        costMicroPkr: cost,
      });
    }
  });

  it("200 with the fee for every part on the organisation's own provider key, whose row shows the cache", async () => {
    const own = await issueKey(bench.database);
    await storeVaultKey(bench.database, own, `provider of ${MODEL}`, 'sk-own');
    const record = await ask(asJson(usage), own.secret);
    assert.deepEqual(record, {
      ...record,
      isByok: true,
      promptTokens: 3,
      tokensGenerated: 550,
      totalTokens: 12_862,
      cacheCreationInputTokens: 12_304,
      cacheReadInputTokens: 5,
      costMicroPkr: cost / 20n,
    });
  });

  it('200 at the prices of the tier that the reported prompt reaches', async () => {
    for (const [prompt, expected] of [
      [271_999, 271_999n * 1_000n + 5_000n],
      [272_000, 272_000n * 1_000n + 5_000n],
      [272_001, 272_001n * 2_000n + 7_500n],
    ] as const) {
      const reported = { prompt_tokens: prompt, completion_tokens: 1, total_tokens: prompt + 1 };
      assert.equal((await ask(asJson(reported))).costMicroPkr, expected);
    }
  });

  it('200 with each call', async () => {
    const reported = { prompt_tokens: 9, completion_tokens: 1, server_tool_use: { web_search_requests: 2 } };
    assert.equal((await ask(asJson(reported))).costMicroPkr, 9_000n + 5_000n + 2n * 2_850_000n);
  });

  it('200 at the prices read at its admission, though the catalogue changes meanwhile', async () => {
    await addRoute(bench.database, { id: 'mock/changed', baseUrl: bench.provider.baseUrl });
    bench.provider.script = async (response, asked) => {
      await runSql(bench.owner)`
        WITH changed AS (
          UPDATE route_targets SET input_micro_pkr_per_million = 9000000000, output_micro_pkr_per_million = 9000000000,
                                   price_tiers = '[]', byok_fee_millionths = 1000000
          WHERE route_id = 'mock/changed')
        UPDATE routes SET is_active = false WHERE id = 'mock/changed'`;
      await json(completion('Hello', { prompt: 9, completion: 4 }))(response, asked);
    };
    const response = await bench.gateway.chat(bench.key.secret, { model: 'mock/changed' });
    await response.text();
    await bench.assertRecord(response, { costMicroPkr: 9n * 70n + 4n * 560n });
    assert.equal((await bench.gateway.chat(bench.key.secret, { model: 'mock/changed' })).status, 404);
  });

  it('200 with the calls and the whole context held, because a search brings text in', async () => {
    const held: bigint[] = [];
    for (const limit of [{}, { max_tool_calls: 3 }]) {
      const { id, secret } = await issueKey(bench.database);
      const script: Script = async (response, asked) => {
        held.push((await moneyOf(bench.database, id)).keyHeld);
        await asJson(usage)(response, asked);
      };
      await ask(script, secret, { max_tokens: 10, web_search_options: {}, ...limit });
    }
    const prompt = 400_000n * 4_000n + 10n * 7_500n;
    assert.deepEqual(held, [prompt + 10n * 2_850_000n, prompt + 3n * 2_850_000n]);
  });

  it('200 settled by the larger figure, flagged and logged, when the usage contradicts itself', async () => {
    const none = { completion_tokens_details: { reasoning_tokens: 0 } };
    for (const [reported, prompt, generated] of [
      // The total says more than its parts, less, and the details say more than their total.
      [{ prompt_tokens: 9, completion_tokens: 4, total_tokens: 20, ...none }, 9, 11],
      [{ prompt_tokens: 9, completion_tokens: 4, total_tokens: 1 }, 9, 4],
      [{ prompt_tokens: 9, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 10 } }, 10, 4],
      [{ prompt_tokens: 9, completion_tokens: 4, completion_tokens_details: { reasoning_tokens: 5 } }, 9, 5],
      // Never more than is possible.
      [{ prompt_tokens: 9, completion_tokens: 4, total_tokens: 10 ** 9, ...none }, 9, 1_000],
    ] as const) {
      bench.gateway.logged.length = 0;
      const record = await ask(asJson(reported));
      assert.deepEqual([record.promptTokens, record.tokensGenerated], [prompt, generated]);
      assert.equal(record.tokensEstimated, true);
      assert.equal(record.costMicroPkr, BigInt(prompt) * 1_000n + BigInt(generated) * 5_000n);
      assert.match(record.upstreamError ?? '', /^the totals of the provider's usage disagree with its parts/);
      const [warning] = bench.gateway.logged.filter(({ event }) => event === 'usage.contradictory');
      assert.deepEqual(
        [warning?.['level'], warning?.['route'], warning?.['request_id']],
        [40, MODEL, record.requestId],
      );
    }
  });

  it('200 without a flag where the total alone states reasoning', async () => {
    const reported = { prompt_tokens: 20, completion_tokens: 24, total_tokens: 616 };
    const record = await ask(asJson(reported));
    assert.deepEqual([record.tokensGenerated, record.tokensEstimated], [596, false]);
    assert.equal(record.costMicroPkr, 20_000n + 596n * 5_000n);
  });

  it('200 without a flag where the total shows that reasoning is beside the completion', async () => {
    const reported = {
      prompt_tokens: 32,
      completion_tokens: 9,
      total_tokens: 135,
      completion_tokens_details: { reasoning_tokens: 94 },
    };
    const record = await ask(asJson(reported));
    assert.deepEqual([record.tokensGenerated, record.tokensEstimated], [103, false]);
    assert.equal(record.costMicroPkr, 32_000n + 103n * 5_000n);
  });

  it('200 with two choices', async () => {
    const reported = { prompt_tokens: 9, completion_tokens: 62, total_tokens: 71 };
    const record = await ask(asJson(reported), bench.key.secret, { n: 2 });
    assert.deepEqual([record.costMicroPkr, record.tokensEstimated], [9_000n + 62n * 5_000n, false]);
  });
});
