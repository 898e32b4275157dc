import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { MAX_ANSWER_BYTES } from '../attempt/whole-answer.ts';
import { assertError, useBench } from '../testing/bench.ts';
import { flush, json } from '../testing/mock-provider.ts';
import { addRoute, issueKey, moneyOf, PLATFORM_KEY, ROUTE_TIMEOUT_MS } from '../testing/test-gateway.ts';

const INPUT = 70n;

const bench = await useBench({ bodyLimitBytes: 16 * 1024 * 1024 });

describe('POST /v1/embeddings', () => {
  before(async () => {
    const route = { baseUrl: bench.provider.baseUrl, endpoints: ['embeddings'] };
    await addRoute(bench.database, { ...route, id: 'mock/vectors' });
    await addRoute(bench.database, { ...route, id: 'mock/context', maxInputTokens: 8_192 });
  });
  const ask = (body: object = {}, init: RequestInit = {}, secret = bench.key.secret) =>
    bench.gateway.post(
      '/v1/embeddings',
      secret,
      { model: 'mock/vectors', input: 'Hello there', ...body },
      init,
    );
  const answer = (embedding: unknown = [0.1, -2e-5], tokens = 2) => ({
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding }],
    model: 'upstream-model',
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  });

  it('200 with the answer as it came; the prompt is all that is held and all that it costs', async () => {
    const key = await issueKey(bench.database);
    const text = JSON.stringify(answer(), null, 2);
    let held: bigint | undefined;
    bench.provider.script = async (response, asked) => {
      held = (await moneyOf(bench.database, key.id)).keyHeld;
      await json(text)(response, asked);
    };
    const got = await ask({ encoding_format: 'float' }, {}, key.secret);
    assert.equal(got.status, 200);
    assert.equal(got.headers.get('content-type'), 'application/json');
    assert.equal(await got.text(), text);
    assert.equal(held, 5n * INPUT);
    const asked = bench.provider.asked.at(-1);
    assert.equal(asked?.path, '/v1/embeddings');
    assert.equal(asked?.text, '{"model":"upstream-model","input":"Hello there","encoding_format":"float"}');
    await bench.assertRecord(got, {
      status: 200,
      isStream: false,
      promptTokens: 2,
      tokensGenerated: 0,
      totalTokens: 2,
      tokensEstimated: false,
      costMicroPkr: 2n * INPUT,
      terminationReason: 'success',
    });
  });

  it('200 counted here where the provider says no usage', async () => {
    bench.provider.script = json({ ...answer(), usage: undefined });
    const got = await ask({ input: [1, 2, 3] });
    await got.text();
    await bench.assertRecord(got, { promptTokens: 6, tokensEstimated: true, costMicroPkr: 6n * INPUT });
  });

  it('200 counted here where the provider says that nothing was used', async () => {
    bench.provider.script = json(answer([1], 0));
    const got = await ask({ input: [1, 2, 3] });
    await got.text();
    const costMicroPkr = 6n * INPUT;
    await bench.assertRecord(got, {
      promptTokens: 6,
      tokensGenerated: 0,
      tokensEstimated: true,
      costMicroPkr,
    });
  });

  it('200 with no more tokens than the inputs can have, whatever the provider says', async () => {
    bench.provider.script = json(answer([1], 1e9));
    const got = await ask({ model: 'mock/context' });
    await got.text();
    await bench.assertRecord(got, { promptTokens: 8_192, tokensEstimated: true });
  });

  it('200 for 2,048 inputs whose answer is larger than what is read of any other', async () => {
    const numbers = `[${Array(512).fill('-0.012345678901234567').join()}]`;
    const row = (index: number) => `{"object":"embedding","index":${index},"embedding":${numbers}}`;
    let sent = 0;
    bench.provider.script = async (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      for (let index = 0; index < 2_048; index += 1) {
        const piece = `${index === 0 ? '{"object":"list","data":[' : ','}${row(index)}`;
        sent += piece.length;
        if (!response.write(piece)) await new Promise((resolve) => response.once('drain', resolve));
      }
      const end = '],"model":"m","usage":{"prompt_tokens":9000,"total_tokens":9000}}';
      sent += end.length;
      response.end(end);
    };
    const got = await ask({ input: Array(2_048).fill('one two three four') });
    assert.equal(got.status, 200);
    let received = 0;
    for await (const chunk of got.body ?? []) received += chunk.length;
    assert.ok(sent > MAX_ANSWER_BYTES);
    assert.equal(received, sent);
    await bench.assertRecord(got, { promptTokens: 9_000, costMicroPkr: 9_000n * INPUT });
  });

  it('200 whose connection breaks with the answer, so that nobody takes half of it for the whole', async () => {
    bench.provider.script = async (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      await flush(response, '{"object":"list","data":[{"embedding":[0.1,');
      response.socket?.destroy();
    };
    const got = await ask();
    await assert.rejects(got.text());
    await bench.assertRecord(got, { terminationReason: 'upstream_stream_aborted', promptTokens: 5 });
    bench.provider.script = json('{"object":"list","data":[{"embedding":[');
    await assert.rejects((await ask()).text());
    // Nothing of it was shown before its first vector, so that another target could still be asked.
    bench.provider.script = json('{"object":"list","data":[');
    await assertError(await ask(), { status: 502, code: 'upstream_error', type: 'upstream_error' });
  });

  it('504 before an answer, and a broken connection in the middle of one, when the time of the route is over', async () => {
    bench.provider.script = () => {};
    const next = bench.provider.next();
    const waiting = ask();
    await next;
    bench.gateway.time.fire(ROUTE_TIMEOUT_MS);
    await assertError(await waiting, { status: 504, code: 'upstream_timeout', type: 'upstream_error' });
    bench.provider.script = async (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      await flush(response, '{"object":"list","data":[{"embedding":[0.1,');
    };
    const got = await ask();
    const body = got.text();
    bench.gateway.time.fire(ROUTE_TIMEOUT_MS);
    await assert.rejects(body);
    await bench.assertRecord(got, { terminationReason: 'proxy_guillotine' });
  });

  it('502 for an answer that is no JSON', async () => {
    bench.provider.script = (response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<html>');
    };
    await assertError(await ask(), { status: 502, code: 'upstream_error', type: 'upstream_error' });
  });

  it("400 of the provider's own passes as it came", async () => {
    const error = '{ "error":{"message":"too long"} }';
    bench.provider.script = json(error, 400);
    const got = await ask();
    assert.deepEqual([got.status, await got.text()], [400, error]);
    await bench.assertRecord(got, { status: 400, upstreamError: 'too long', costMicroPkr: 0n });
  });

  it("200 without the platform's credential, should the provider repeat it", async () => {
    bench.provider.script = async (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      await flush(response, `{"model":"${PLATFORM_KEY.slice(0, 9)}`);
      response.end(
        `${PLATFORM_KEY.slice(9)}","data":[{"embedding":[1]}],"usage":{"prompt_tokens":2,"total_tokens":2}}`,
      );
    };
    assert.equal(
      await (await ask()).text(),
      '{"model":"[redacted]","data":[{"embedding":[1]}],"usage":{"prompt_tokens":2,"total_tokens":2}}',
    );
  });

  it('400 for inputs that cannot be counted', async () => {
    const refusal = { status: 400, code: 'invalid_request', type: 'invalid_request_error', param: 'input' };
    await assertError(await ask({ input: [{ image: 'data:' }] }), refusal);
  });
});
