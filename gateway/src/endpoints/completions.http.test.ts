import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { assertError, useBench } from '../testing/bench.ts';
import { DONE, flush, json, sse, usageOf } from '../testing/mock-provider.ts';
import { addRoute, issueKey, moneyOf, ROUTE_TIMEOUT_MS } from '../testing/test-gateway.ts';

const INPUT = 70n;
const OUTPUT = 560n;

const bench = await useBench();

describe('POST /v1/completions', () => {
  before(() =>
    addRoute(bench.database, {
      id: 'mock/text',
      baseUrl: bench.provider.baseUrl,
      endpoints: ['completions'],
    }),
  );
  const ask = (body: object = {}, secret = bench.key.secret) =>
    bench.gateway.post('/v1/completions', secret, { model: 'mock/text', prompt: 'Hi', ...body });
  const answer = (members: object = {}) => ({
    id: 'cmpl-1',
    object: 'text_completion',
    choices: [{ text: ' there', index: 0, logprobs: null, finish_reason: 'length' }],
    ...members,
  });
  const chunk = (text: string, members: object = {}, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ ...answer({ choices: [{ text, index: 0, finish_reason }] }), ...members })}\n\n`;

  it('200 with the answer as it came, and sixteen tokens at most unless the caller says', async () => {
    const text = JSON.stringify(answer({ usage: usageOf({ prompt: 1, completion: 16 }) }), null, 2);
    bench.provider.script = json(text);
    const got = await ask();
    assert.equal(await got.text(), text);
    const asked = bench.provider.asked.at(-1);
    assert.equal(asked?.path, '/v1/completions');
    assert.equal(asked?.text, '{"model":"upstream-model","max_tokens":16,"prompt":"Hi"}');
    await bench.assertRecord(got, {
      promptTokens: 1,
      tokensGenerated: 16,
      costMicroPkr: INPUT + 16n * OUTPUT,
      tokensEstimated: false,
    });
  });

  it('200 as a stream, its usage hidden', async () => {
    const usage = usageOf({ prompt: 1, completion: 2 });
    bench.provider.script = sse(
      chunk(' there', { usage: null }),
      chunk('', { usage: null }, 'stop'),
      chunk('', { choices: [], usage }),
      DONE,
    );
    const got = await ask({ stream: true, max_tokens: 5 });
    assert.equal(await got.text(), chunk(' there') + chunk('', {}, 'stop') + DONE);
    assert.deepEqual(bench.provider.asked.at(-1)?.body['stream_options'], { include_usage: true });
    await bench.assertRecord(got, { isStream: true, promptTokens: 1, tokensGenerated: 2, ttftMs: 0 });
  });

  it('200 counted here where the provider says nothing, and holds every answer that is generated', async () => {
    const key = await issueKey(bench.database);
    let held: bigint | undefined;
    bench.provider.script = async (response, asked) => {
      held = (await moneyOf(bench.database, key.id)).keyHeld;
      await json(answer())(response, asked);
    };
    const got = await ask({ prompt: [[1, 2, 3], [4]], n: 2, best_of: 4, max_tokens: 10 }, key.secret);
    await got.text();
    const prompt = 3n + 4n;
    assert.equal(held, prompt * INPUT + 2n * 4n * 10n * OUTPUT);
    await bench.assertRecord(got, {
      tokensGenerated: 1,
      tokensEstimated: true,
      costMicroPkr: prompt * INPUT + OUTPUT,
    });
  });

  it('200 with no output at all, for the likelihoods of the prompt', async () => {
    bench.provider.script = json(answer({ usage: usageOf({ prompt: 1, completion: 0 }) }));
    const got = await ask({ max_tokens: 0, echo: true, logprobs: 1 });
    await got.text();
    assert.equal(bench.provider.asked.at(-1)?.body['max_tokens'], 0);
    await bench.assertRecord(got, { tokensGenerated: 0, costMicroPkr: INPUT });
  });

  it('400 for a prompt that is none of the four forms', async () => {
    const refusal = { status: 400, code: 'invalid_request', type: 'invalid_request_error', param: 'prompt' };
    await assertError(await ask({ prompt: [{ text: 'Hi' }] }), refusal);
  });

  it('404 for a route that does not serve it', async () => {
    const refusal = { status: 404, code: 'model_not_found', type: 'invalid_request_error', param: 'model' };
    await assertError(await ask({ model: 'mock/model' }), refusal);
  });

  it('200 with an error event when the time of the route is over', async () => {
    bench.provider.script = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      await flush(response, chunk(' there'));
    };
    const got = await ask({ stream: true });
    const reader = got.body?.getReader() ?? assert.fail();
    await reader.read();
    bench.gateway.time.fire(ROUTE_TIMEOUT_MS);
    const last = Buffer.from((await reader.read()).value ?? []).toString();
    assert.match(last, /^data: \{"error":\{.*"code":"upstream_timeout"\}\}\n\n$/);
    await bench.assertRecord(got, { terminationReason: 'proxy_guillotine', tokensGenerated: 1 });
  });
});
