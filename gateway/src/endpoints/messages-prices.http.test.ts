import assert from 'node:assert/strict';
import { afterEach, before, describe, it } from 'node:test';
import { READ_ON_MS } from '../attempt/read-on.ts';
import { useBench } from '../testing/bench.ts';
import {
  blockDelta,
  MESSAGE_STOP,
  messageDelta,
  messageStart,
  textDelta,
  textMessage,
  textStream,
} from '../testing/mock-messages.ts';
import { flush, json, type Script, sse } from '../testing/mock-provider.ts';
import { assertNoDelays } from '../testing/no-delays.ts';
import { PRICES } from '../testing/prices.ts';
import { addRoute, type IssuedKey, issueKey, moneyOf } from '../testing/test-gateway.ts';
import { storeVaultKey } from '../testing/vault-key.ts';

const MODEL = 'mock/claude';
const bench = await useBench();

// In micro-PKR per token: 1,000 input, 5,000 output, 1,250 and 2,000 cache writes, 100 cache reads.
describe('what the parts of a message cost', () => {
  let own: IssuedKey;
  before(async () => {
    await addRoute(bench.database, {
      ...PRICES,
      id: MODEL,
      protocol: 'anthropic',
      endpoints: ['messages'],
      baseUrl: bench.provider.baseUrl,
      microPkrPerCall: Object.fromEntries(PRICES.microPkrPerCall),
      maxInputTokens: 200_000,
    });
    own = await issueKey(bench.database);
    await storeVaultKey(bench.database, own, `provider of ${MODEL}`, 'sk-ant-own-0123456789');
  });
  afterEach(async () => {
    bench.gateway.logged.length = 0;
    await assertNoDelays(bench.gateway.time);
  });

  const post = (secret: string, body: object, init: RequestInit = {}) =>
    bench.gateway.post(
      '/v1/messages',
      secret,
      { model: MODEL, max_tokens: 1_000, messages: [{ role: 'user', content: 'Hi' }], ...body },
      init,
    );
  const ask = async (script: Script, secret: string, body: object = {}) => {
    bench.provider.script = script;
    const response = await post(secret, body);
    assert.equal(response.status, 200);
    await response.text();
    return bench.recordOf(response);
  };

  const whole = (usage: object) => ({ title: 'as JSON', script: json(textMessage('x', usage)), body: {} });
  const streamed = ({ output_tokens: output, ...prompt }: Record<string, unknown>, end: object = {}) => ({
    title: 'as a stream',
    script: sse(
      ...textStream(['x'], {
        start: { ...prompt, output_tokens: 1 },
        end: { output_tokens: output, ...end },
      }),
    ),
    body: { stream: true },
  });
  const both = (usage: Record<string, unknown>) => [whole(usage), streamed(usage)];

  for (const [title, answers, parts, cost] of [
    [
      '3 uncached tokens, 12,304 written to the cache, 550 generated',
      both({
        input_tokens: 3,
        cache_creation_input_tokens: 12_304,
        cache_read_input_tokens: 0,
        cache_creation: { ephemeral_5m_input_tokens: 12_304, ephemeral_1h_input_tokens: 0 },
        output_tokens: 550,
      }),
      { prompt: 3, write: 12_304, read: 0, output: 550 },
      3n * 1_000n + 12_304n * 1_250n + 550n * 5_000n,
    ],
    [
      '4 uncached tokens, 2,455 read from the cache, 23 generated',
      both({
        input_tokens: 4,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 2_455,
        output_tokens: 23,
      }),
      { prompt: 4, write: 0, read: 2_455, output: 23 },
      4n * 1_000n + 2_455n * 100n + 23n * 5_000n,
    ],
    [
      'writes for five minutes and for an hour',
      both({
        input_tokens: 7,
        cache_creation_input_tokens: 300,
        cache_read_input_tokens: 20,
        cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
        output_tokens: 10,
      }),
      { prompt: 7, write: 300, read: 20, output: 10 },
      7n * 1_000n + 100n * 1_250n + 200n * 2_000n + 20n * 100n + 10n * 5_000n,
    ],
    [
      'no word of a cache',
      both({ input_tokens: 7, output_tokens: 10 }),
      { prompt: 7, write: null, read: null, output: 10 },
      7n * 1_000n + 10n * 5_000n,
    ],
    [
      'thinking, which is part of the output',
      both({ input_tokens: 7, output_tokens: 10, output_tokens_details: { thinking_tokens: 8 } }),
      { prompt: 7, write: null, read: null, output: 10 },
      7n * 1_000n + 10n * 5_000n,
    ],
    [
      'a compaction beside the message',
      both({
        input_tokens: 7,
        output_tokens: 10,
        iterations: [
          { type: 'compaction', input_tokens: 1_000, cache_read_input_tokens: 500, output_tokens: 90 },
          { type: 'message', input_tokens: 7, output_tokens: 10 },
        ],
      }),
      { prompt: 1_007, write: null, read: 500, output: 100 },
      1_007n * 1_000n + 500n * 100n + 100n * 5_000n,
    ],
    [
      'a prompt that a search makes longer, and the search',
      [
        {
          ...streamed(
            { input_tokens: 7, output_tokens: 10 },
            { input_tokens: 5_007, server_tool_use: { web_search_requests: 2, web_fetch_requests: 1 } },
          ),
        },
      ],
      { prompt: 5_007, write: null, read: null, output: 10 },
      5_007n * 1_000n + 10n * 5_000n + 2n * 2_850_000n,
    ],
  ] as const) {
    for (const { title: form, script, body } of answers) {
      it(`200 ${form} for ${title}`, async () => {
        const { prompt, write, read, output } = parts;
        const all = prompt + (write ?? 0) + (read ?? 0);
        const record = await ask(script, bench.key.secret, body);
        assert.deepEqual(record, {
          ...record,
          isByok: false,
          promptTokens: all,
          cacheCreationInputTokens: null,
          cacheReadInputTokens: null,
          tokensGenerated: output,
          totalTokens: all + output,
          tokensEstimated: false,
          upstreamError: null,
          costMicroPkr: cost,
        });
        const withOwnKey = await ask(script, own.secret, body);
        assert.deepEqual(withOwnKey, {
          ...withOwnKey,
          isByok: true,
          promptTokens: prompt,
          cacheCreationInputTokens: write,
          cacheReadInputTokens: read,
          tokensGenerated: output,
          totalTokens: all + output,
          // The fee of 5 percent, to the nearest micro-PKR.
          costMicroPkr: (cost + 10n) / 20n,
        });
      });
    }
  }

  it('200 flagged when the total of the writes is not their sum, at the larger', async () => {
    const usage = {
      input_tokens: 7,
      cache_creation_input_tokens: 10,
      cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
      output_tokens: 10,
    };
    for (const { script, body } of both(usage)) {
      const record = await ask(script, bench.key.secret, body);
      assert.deepEqual([record.tokensEstimated, record.promptTokens], [true, 307]);
      assert.match(record.upstreamError ?? '', /disagree/);
      assert.equal(record.costMicroPkr, 7n * 1_000n + 100n * 1_250n + 200n * 2_000n + 10n * 5_000n);
    }
  });

  /** Leaves once these events were received, and returns the record after nothing more came. */
  const leaveAfter = async (...events: readonly string[]) => {
    bench.provider.script = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of events) await flush(response, event);
    };
    const leaving = new AbortController();
    const response = await post(bench.key.secret, { stream: true }, { signal: leaving.signal });
    const reader = response.body?.getReader() ?? assert.fail();
    let received = 0;
    const sent = Buffer.byteLength(events.join(''));
    while (received < sent) received += (await reader.read()).value?.length ?? assert.fail();
    const readsOn = bench.gateway.time.started(READ_ON_MS);
    leaving.abort();
    await readsOn;
    bench.gateway.time.fire(READ_ON_MS);
    return bench.recordOf(response);
  };
  const begin = messageStart({ input_tokens: 4, cache_read_input_tokens: 2_455, output_tokens: 1 });

  it('200 counted here, on top of the cache that the start states, when the caller leaves and no usage comes', async () => {
    const record = await leaveAfter(begin, textDelta('Hello there'));
    assert.deepEqual(
      [record.terminationReason, record.promptTokens, record.tokensGenerated, record.tokensEstimated],
      ['client_disconnect', 2_459, 2, true],
    );
    assert.equal(record.costMicroPkr, 4n * 1_000n + 2_455n * 100n + 2n * 5_000n);
  });

  it('200 at its hold when the caller leaves while the model thinks, because that cannot be counted', async () => {
    const record = await leaveAfter(begin, blockDelta({ type: 'thinking_delta', thinking: 'Hm.' }));
    assert.deepEqual([record.tokensGenerated, record.tokensEstimated], [1_000, true]);
    assert.ok(record.costMicroPkr >= 1_000n * 5_000n);
  });

  it('200 settled by a usage that came before the caller left, without reading on', async () => {
    bench.provider.script = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      await flush(response, begin + textDelta('Hello') + messageDelta({ output_tokens: 23 }));
    };
    const leaving = new AbortController();
    const response = await post(bench.key.secret, { stream: true }, { signal: leaving.signal });
    const reader = response.body?.getReader() ?? assert.fail();
    let text = '';
    while (!text.includes('message_delta')) text += Buffer.from((await reader.read()).value ?? []);
    leaving.abort();
    await bench.assertRecord(response, {
      promptTokens: 2_459,
      tokensGenerated: 23,
      tokensEstimated: false,
      terminationReason: 'client_disconnect',
    });
  });

  it('200 with half as many tokens of the prompt held again, because the tokenizer of the provider finds more', async () => {
    const { id, secret } = await issueKey(bench.database);
    let held = 0n;
    const script: Script = async (response, asked) => {
      held = (await moneyOf(bench.database, id)).keyHeld;
      await json(textMessage('x', { input_tokens: 11, output_tokens: 4 }))(response, asked);
    };
    const record = await ask(script, secret);
    // 8 tokens as counted here, each at the price of a write for an hour.
    assert.equal(held, 12n * 2_000n + 1_000n * 5_000n);
    assert.equal(record.costMicroPkr, 11n * 1_000n + 4n * 5_000n);
  });

  it('200 with the whole of what a priced search may bring held, and no more afterwards', async () => {
    const { id, secret } = await issueKey(bench.database);
    let held = 0n;
    const usage = { input_tokens: 9, output_tokens: 4, server_tool_use: { web_search_requests: 1 } };
    const script: Script = async (response, asked) => {
      held = (await moneyOf(bench.database, id)).keyHeld;
      await json(textMessage('x', usage))(response, asked);
    };
    const tools = [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }];
    const record = await ask(script, secret, { tools });
    assert.equal(record.costMicroPkr, 9n * 1_000n + 4n * 5_000n + 2_850_000n);
    assert.ok(held >= 200_000n * 1_000n + 1_000n * 5_000n + 3n * 2_850_000n, `${held}`);
    assert.equal((await moneyOf(bench.database, id)).keyHeld, record.costMicroPkr);
  });

  it('400 for a hosted tool whose calls have no price on the route, a name that only begins like one among them', async () => {
    for (const type of ['web_fetch_20250910', 'web_search_premium', 'web_search_20250305x']) {
      const response = await post(bench.key.secret, { tools: [{ type, name: 'x' }] });
      assert.equal(response.status, 400);
      const { error } = (await response.json()) as { error: { message: string } };
      assert.ok(error.message.startsWith(`tools "${type}"`), error.message);
    }
  });

  it('200 at what was said last when a stream states its usage again and again', async () => {
    const script = sse(
      begin,
      messageDelta({ output_tokens: 900 }, null),
      textDelta('x'),
      messageDelta({ output_tokens: 20 }, null),
      messageDelta({ output_tokens: 23, input_tokens: 4 }),
      MESSAGE_STOP,
    );
    const record = await ask(script, bench.key.secret, { stream: true });
    assert.deepEqual(
      [record.promptTokens, record.tokensGenerated, record.tokensEstimated],
      [2_459, 23, false],
    );
  });
});
