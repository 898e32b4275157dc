import assert from 'node:assert/strict';
import { afterEach, before, describe, it } from 'node:test';
import { useBench } from '../testing/bench.ts';
import { chunk, completion, DONE, delta, json, sse, usageOf } from '../testing/mock-provider.ts';
import { addRoute } from '../testing/test-gateway.ts';

const bench = await useBench();

describe('the usage that a provider reports', () => {
  before(async () => {
    const { baseUrl } = bench.provider;
    await addRoute(bench.database, { id: 'mock/context', baseUrl, maxInputTokens: 200 });
  });
  afterEach(() => {
    bench.gateway.logged.length = 0;
  });
  const errors = () => bench.gateway.logged.filter(({ level }) => level === 50);
  const ask = async (usage: { prompt: number; completion: number }, body: object = {}) => {
    bench.provider.script = json(completion('Hello', usage));
    const response = await bench.gateway.chat(bench.key.secret, body);
    assert.equal(response.status, 200);
    return bench.recordOf(response);
  };

  it('200 settled at the most that the route generates, and flagged, when it is more', async () => {
    for (const completion of [1_001, 10 ** 10, 2 ** 53 - 1]) {
      const record = await ask({ prompt: 9, completion });
      assert.deepEqual(record, {
        ...record,
        promptTokens: 9,
        tokensGenerated: 1_000,
        totalTokens: 1_009,
        tokensEstimated: true,
        costMicroPkr: 9n * 70n + 1_000n * 560n,
        upstreamError: `the provider reported ${completion} completion tokens where at most 1000 are possible`,
      });
    }
    const [error] = errors();
    assert.equal(errors().length, 3);
    const { event, route, reported, bound } = error ?? {};
    assert.deepEqual([event, route], ['usage.impossible', 'mock/model']);
    assert.deepEqual(reported, { prompt_tokens: 9, completion_tokens: 1_001 });
    assert.equal((bound as Record<string, number>)['completion_tokens'], 1_000);
  });

  it('200 with as much for each choice', async () => {
    assert.equal((await ask({ prompt: 9, completion: 4_000 }, { n: 4 })).tokensEstimated, false);
    assert.equal((await ask({ prompt: 9, completion: 4_001 }, { n: 4 })).tokensGenerated, 4_000);
  });

  it('200 settled at what the prompt can have been, and flagged, when it is more', async () => {
    const most = Buffer.byteLength(JSON.stringify(bench.provider.asked.at(-1)?.body)) + 4_096;
    assert.ok(most < 5_000);
    const record = await ask({ prompt: 5_000, completion: 1 });
    assert.ok((record.promptTokens ?? 0) > 4_096 && (record.promptTokens ?? 0) < 5_000);
    assert.equal(record.tokensEstimated, true);
    assert.match(record.upstreamError ?? '', /reported 5000 prompt tokens where at most \d+ are possible/);
  });

  it("200 settled at the route's context where that is stated", async () => {
    const record = await ask({ prompt: 201, completion: 1_001 }, { model: 'mock/context' });
    assert.deepEqual([record.promptTokens, record.tokensGenerated], [200, 1_000]);
    assert.equal(
      record.upstreamError,
      'the provider reported 201 prompt tokens where at most 200 are possible and 1001 completion tokens where at most 1000 are possible',
    );
  });

  it('200 settled as reported beyond the output cap that was sent, with an error for the operator', async () => {
    const record = await ask({ prompt: 9, completion: 900 }, { max_tokens: 10 });
    assert.deepEqual(
      [record.tokensGenerated, record.tokensEstimated, record.upstreamError],
      [900, false, null],
    );
    const [error, ...others] = errors();
    assert.deepEqual(others, []);
    const { event, route, reported, bound } = error ?? {};
    assert.deepEqual([event, route], ['usage.beyond_output_cap', 'mock/model']);
    assert.deepEqual(reported, { prompt_tokens: 9, completion_tokens: 900 });
    assert.deepEqual(bound, { completion_tokens: 10 });
  });

  it('200 settled by the last of a stream, whole', async () => {
    const first = chunk({ ...delta('Hello'), usage: usageOf({ prompt: 9, completion: 500 }) });
    const last = chunk({ ...delta('', 'stop'), usage: usageOf({ prompt: 9, completion: 4 }) });
    bench.provider.script = sse(first, chunk(delta(' there')), last, DONE);
    const response = await bench.gateway.chat(bench.key.secret, { stream: true });
    await response.text();
    const { tokensGenerated, tokensEstimated } = await bench.recordOf(response);
    assert.deepEqual([tokensGenerated, tokensEstimated], [4, false]);
  });

  it('200 settled by what was counted when a stream told its usage before the answer only', async () => {
    const first = chunk({ choices: [], usage: usageOf({ prompt: 9, completion: 0 }) });
    bench.provider.script = sse(first, chunk(delta('Hello')), chunk(delta(' there', 'stop')), DONE);
    const response = await bench.gateway.chat(bench.key.secret, { stream: true });
    await response.text();
    const { promptTokens, tokensGenerated, tokensEstimated } = await bench.recordOf(response);
    assert.deepEqual([promptTokens, tokensGenerated, tokensEstimated], [9, 2, true]);
  });

  it('200 never billed below the counted usage when the provider aborts', async () => {
    const first = chunk({ ...delta('Hello'), usage: usageOf({ prompt: 9, completion: 0 }) });
    bench.provider.script = sse(first, chunk(delta(' there')));
    const response = await bench.gateway.chat(bench.key.secret, { stream: true });
    assert.match(await response.text(), /"code":"upstream_error"/);
    await bench.assertRecord(response, { tokensGenerated: 2, terminationReason: 'upstream_stream_aborted' });
  });
});
