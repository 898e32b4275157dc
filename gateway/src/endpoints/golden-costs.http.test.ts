import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { READ_ON_MS } from '../attempt/read-on.ts';
import { useBench } from '../testing/bench.ts';
import {
  blockStart,
  message,
  messageStart,
  textDelta,
  textMessage,
  textStream,
} from '../testing/mock-messages.ts';
import { chunk, completion, DONE, delta, flush, json, type Script, sse } from '../testing/mock-provider.ts';
import { completed, messageEvents, messageItem, response } from '../testing/mock-responses.ts';
import { LONG_PROMPTS } from '../testing/prices.ts';
import { addRoute, issueKey, moneyOf } from '../testing/test-gateway.ts';
import { storeVaultKey } from '../testing/vault-key.ts';

// What requests cost at every endpoint, worked out by hand. A token of input costs 1,000 micro-PKR, of output 5,000, read
// from a cache 100, written to one 1,250, for an hour 2,000; above 272,000 tokens twice that, and output 7,500.

const bench = await useBench();

interface Golden {
  readonly title: string;
  readonly endpoint: 'messages' | 'responses' | 'chat' | 'completions' | 'embeddings';
  readonly answer: Script;
  /** The model, if it is not the endpoint's own. */
  readonly model?: string;
  readonly body?: object;
  readonly cost: bigint;
  /** Prompt, generated, written to a cache and read from it, as the row of the organisation's own key shows them. */
  readonly shown: readonly [number, number, number | null, number | null];
}

const PATHS = {
  messages: '/v1/messages',
  responses: '/v1/responses',
  chat: '/v1/chat/completions',
  completions: '/v1/completions',
  embeddings: '/v1/embeddings',
};

const user = [{ role: 'user', content: 'Hi' }];
const BODIES = {
  messages: { max_tokens: 100, messages: user },
  responses: { input: 'Hi' },
  chat: { messages: user },
  completions: { prompt: 'Hi' },
  embeddings: { input: 'Hi' },
};

const written = {
  input_tokens: 3,
  cache_creation_input_tokens: 12_304,
  cache_read_input_tokens: 0,
  output_tokens: 550,
};
const anHour = {
  ...written,
  cache_creation: { ephemeral_5m_input_tokens: 304, ephemeral_1h_input_tokens: 12_000 },
};
const read = { input_tokens: 4, cache_creation_input_tokens: 0, cache_read_input_tokens: 2_455 };
const cachedChat = (prompt: number, cached: number, generated: number) => ({
  prompt_tokens: prompt,
  completion_tokens: generated,
  total_tokens: prompt + generated,
  prompt_tokens_details: { cached_tokens: cached },
});
const embedding = { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0.5] }], model: 'm' };
const atBoundary = (tokens: number) =>
  json(response([messageItem('x')], { input: tokens, output: 10, cached: 200_000 }));

const TRANSLATED: readonly Golden[] = [
  {
    title: 'a message for a chat: 3 uncached, 304 written for five minutes, 12,000 for an hour, 550 out',
    endpoint: 'chat',
    model: 'golden/anthropic',
    answer: json(textMessage('x', anHour)),
    cost: 3_000n + 380_000n + 24_000_000n + 2_750_000n,
    shown: [3, 550, 12_304, 0],
  },
  {
    title: 'a stream of messages for a response: 4 uncached, 2,455 read, 23 out',
    endpoint: 'responses',
    model: 'golden/anthropic',
    body: { stream: true },
    answer: sse(...textStream(['x'], { start: { ...read, output_tokens: 1 }, end: { output_tokens: 23 } })),
    cost: 4_000n + 245_500n + 115_000n,
    shown: [4, 23, 0, 2_455],
  },
  {
    title: 'a stream of a chat for a message: a cache within the prompt',
    endpoint: 'messages',
    model: 'golden/chat',
    body: { stream: true },
    answer: sse(
      chunk(delta('x')),
      chunk(delta('', 'stop')),
      chunk({ choices: [], usage: cachedChat(2_459, 2_455, 23) }),
      DONE,
    ),
    cost: 4_000n + 245_500n + 115_000n,
    shown: [4, 23, null, 2_455],
  },
  {
    title: 'a search that is only declared, and is not sent on',
    endpoint: 'responses',
    model: 'golden/chat',
    body: { tools: [{ type: 'web_search' }] },
    answer: json({ ...completion('x'), usage: cachedChat(9, 0, 6) }),
    cost: 9_000n + 30_000n,
    shown: [9, 6, null, 0],
  },
];

const CASES: readonly Golden[] = [
  {
    title: '3 uncached, 12,304 written to the cache, 0 read, 550 out',
    endpoint: 'messages',
    body: { max_tokens: 550 },
    answer: json(textMessage('x', written)),
    cost: 3_000n + 15_380_000n + 2_750_000n,
    shown: [3, 550, 12_304, 0],
  },
  {
    title: '304 written for five minutes and 12,000 for an hour',
    endpoint: 'messages',
    body: { max_tokens: 550 },
    answer: json(textMessage('x', anHour)),
    cost: 3_000n + 380_000n + 24_000_000n + 2_750_000n,
    shown: [3, 550, 12_304, 0],
  },
  {
    title: 'a stream of 4 uncached, 2,455 read, 23 out, split over its start and its end',
    endpoint: 'messages',
    body: { stream: true },
    answer: sse(...textStream(['x'], { start: { ...read, output_tokens: 1 }, end: { output_tokens: 23 } })),
    cost: 4_000n + 245_500n + 115_000n,
    shown: [4, 23, 0, 2_455],
  },
  {
    title: 'two searches',
    endpoint: 'messages',
    answer: json(
      message([{ type: 'text', text: 'x' }], {
        input_tokens: 900,
        output_tokens: 20,
        server_tool_use: { web_search_requests: 2 },
      }),
    ),
    body: { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }] },
    cost: 900_000n + 100_000n + 5_700_000n,
    shown: [900, 20, null, null],
  },
  {
    title: 'reasoning within the output, and a cache within the input',
    endpoint: 'responses',
    answer: json(response([messageItem('x')], { input: 2_459, output: 23, cached: 2_455, reasoning: 12 })),
    cost: 4_000n + 245_500n + 115_000n,
    shown: [4, 23, null, 2_455],
  },
  {
    title: 'the same as a stream',
    endpoint: 'responses',
    body: { stream: true },
    answer: sse(
      ...messageEvents('x'),
      completed([messageItem('x')], { input: 2_459, output: 23, cached: 2_455, reasoning: 12 }),
    ),
    cost: 4_000n + 245_500n + 115_000n,
    shown: [4, 23, null, 2_455],
  },
  {
    title: 'one token below the boundary of a tier',
    endpoint: 'responses',
    answer: atBoundary(271_999),
    cost: 71_999_000n + 20_000_000n + 50_000n,
    shown: [71_999, 10, null, 200_000],
  },
  {
    title: 'at the boundary of a tier',
    endpoint: 'responses',
    answer: atBoundary(272_000),
    cost: 72_000_000n + 20_000_000n + 50_000n,
    shown: [72_000, 10, null, 200_000],
  },
  {
    title: 'one token above the boundary of a tier',
    endpoint: 'responses',
    answer: atBoundary(272_001),
    cost: 144_002_000n + 40_000_000n + 75_000n,
    shown: [72_001, 10, null, 200_000],
  },
  {
    title: 'two choices',
    endpoint: 'chat',
    body: { n: 2 },
    answer: json({ ...completion('x'), usage: cachedChat(9, 0, 62) }),
    cost: 9_000n + 310_000n,
    shown: [9, 62, null, 0],
  },
  {
    title: 'a search that a chat model makes for its answer, whose usage does not count it',
    endpoint: 'chat',
    body: { web_search_options: {} },
    answer: json({ ...completion('x'), usage: cachedChat(9, 0, 6) }),
    cost: 9_000n + 30_000n + 2_850_000n,
    shown: [9, 6, null, 0],
  },
  {
    title: 'a text completion',
    endpoint: 'completions',
    answer: json({
      id: 'cmpl-1',
      object: 'text_completion',
      choices: [{ index: 0, text: 'x', finish_reason: 'stop' }],
      usage: cachedChat(9, 4, 6),
    }),
    cost: 5_000n + 400n + 30_000n,
    shown: [5, 6, null, 4],
  },
  {
    title: 'an embedding, which generates nothing',
    endpoint: 'embeddings',
    answer: json({ ...embedding, usage: { prompt_tokens: 8, total_tokens: 8 } }),
    cost: 8_000n,
    shown: [8, 0, null, null],
  },
];

describe('what requests cost', () => {
  before(async () => {
    const { baseUrl } = bench.provider;
    const prices = {
      ...LONG_PROMPTS,
      baseUrl,
      microPkrPerCall: Object.fromEntries(LONG_PROMPTS.microPkrPerCall),
      maxInputTokens: 400_000,
      allow: [
        { member: 'web_search_options', values: null },
        { member: 'tools', values: ['web_search_20250305'] },
      ],
    };
    await addRoute(bench.database, {
      ...prices,
      id: 'golden/openai',
      endpoints: ['chat', 'completions', 'embeddings', 'responses'],
      flags: {
        surfaces: {
          chat: '/chat/completions',
          completions: '/completions',
          embeddings: '/embeddings',
          responses: '/responses',
        },
      },
    });
    await addRoute(bench.database, {
      ...prices,
      id: 'golden/anthropic',
      protocol: 'anthropic',
      endpoints: ['messages', 'chat', 'responses'],
    });
    await addRoute(bench.database, {
      ...prices,
      id: 'golden/chat',
      endpoints: ['chat', 'messages', 'responses'],
    });
  });
  const modelOf = ({ endpoint, model }: Pick<Golden, 'endpoint' | 'model'>) =>
    model ?? (endpoint === 'messages' ? 'golden/anthropic' : 'golden/openai');
  const ask = async (golden: Golden, secret: string) => {
    const { endpoint, body, answer } = golden;
    bench.provider.script = answer;
    const model = modelOf(golden);
    const got = await bench.gateway.post(PATHS[endpoint], secret, { model, ...BODIES[endpoint], ...body });
    const text = await got.text();
    assert.equal(got.status, 200, text);
    return bench.recordOf(got);
  };

  for (const golden of [...TRANSLATED, ...CASES]) {
    const { title, endpoint, cost, shown } = golden;
    const [prompt, generated, cacheWrite, cacheRead] = shown;
    const total = prompt + generated + (cacheWrite ?? 0) + (cacheRead ?? 0);

    it(`200 for ${endpoint}: ${title}`, async () => {
      const { id, secret } = await issueKey(bench.database);
      const record = await ask(golden, secret);
      assert.deepEqual(record, {
        ...record,
        costMicroPkr: cost,
        promptTokens: total - generated,
        tokensGenerated: generated,
        totalTokens: total,
        cacheCreationInputTokens: null,
        cacheReadInputTokens: null,
        tokensEstimated: false,
        upstreamError: null,
      });
      // The surplus is free again.
      assert.equal((await moneyOf(bench.database, id)).keyHeld, cost);
    });

    it(`200 with the organisation's own key for ${endpoint}: ${title}`, async () => {
      const own = await issueKey(bench.database);
      await storeVaultKey(bench.database, own, `provider of ${modelOf(golden)}`, 'sk-own-0123456789');
      const record = await ask(golden, own.secret);
      assert.deepEqual(record, {
        ...record,
        isByok: true,
        costMicroPkr: cost / 20n,
        promptTokens: prompt,
        tokensGenerated: generated,
        totalTokens: total,
        cacheCreationInputTokens: cacheWrite,
        cacheReadInputTokens: cacheRead,
      });
    });
  }

  it('200 held for an embedding: the prompt alone', async () => {
    const { id, secret } = await issueKey(bench.database);
    let held = -1n;
    const answer: Script = async (reply, asked) => {
      held = (await moneyOf(bench.database, id)).keyHeld;
      await json({ ...embedding, usage: { prompt_tokens: 1, total_tokens: 1 } })(reply, asked);
    };
    await ask({ ...(CASES.at(-1) as Golden), answer }, secret);
    assert.equal(held % 2_000n, 0n);
    assert.ok(held > 0n && held <= 20n * 2_000n, `${held}`);
  });

  for (const { endpoint, first } of [
    {
      endpoint: 'messages',
      first: [
        messageStart({ ...read, output_tokens: 1 }),
        blockStart({ type: 'text', text: '' }),
        textDelta('one two three'),
      ],
    },
    { endpoint: 'chat', first: [chunk(delta('one two three'))] },
    { endpoint: 'responses', first: messageEvents('one two three').slice(0, 4) },
  ] as const) {
    it(`200 for ${endpoint}, cancelled: what had come, counted here, when the usage never comes`, async () => {
      bench.provider.script = async (reply) => {
        reply.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const piece of first) await flush(reply, piece);
      };
      const { gateway, key } = bench;
      const leaving = new AbortController();
      const body = { model: modelOf({ endpoint }), ...BODIES[endpoint], stream: true };
      const got = await gateway.post(PATHS[endpoint], key.secret, body, { signal: leaving.signal });
      const reader = got.body?.getReader();
      let seen = '';
      while (!seen.includes('three')) seen += Buffer.from((await reader?.read())?.value ?? []).toString();
      const readsOn = gateway.time.started(READ_ON_MS);
      leaving.abort();
      await readsOn;
      gateway.time.fire(READ_ON_MS);
      const record = await bench.recordOf(got);
      assert.deepEqual([record.terminationReason, record.tokensEstimated], ['client_disconnect', true]);
      // Three words; at least what the start of the stream stated of the prompt.
      assert.equal(record.tokensGenerated, 3);
      const least = endpoint === 'messages' ? 4_000n + 245_500n : 1_000n;
      assert.ok(record.costMicroPkr >= least + 15_000n && record.costMicroPkr < least + 200_000n);
    });
  }
});
