import assert from 'node:assert/strict';
import { afterEach, before, describe, it } from 'node:test';
import { useBench } from '../testing/bench.ts';
import {
  MESSAGE_STOP,
  messageDelta,
  messageStart,
  textDelta,
  textMessage,
} from '../testing/mock-messages.ts';
import { chunk, completion, DONE, delta, json, type Script, sse } from '../testing/mock-provider.ts';
import { event, messageEvents, messageItem, response } from '../testing/mock-responses.ts';
import { assertNoDelays } from '../testing/no-delays.ts';
import { addRoute } from '../testing/test-gateway.ts';

// A provider may lie about its usage in any way that JSON allows. Whatever it says, the request is answered, billed
// within what is possible, and never below what was counted or can be believed.

const INPUT = 70n;
const OUTPUT = 560n;
/** One token a word: `one two three`. */
const TEXT = 'one two three';
const MAX_PROMPT = 500;
const MAX_OUTPUT = 1_000;

const bench = await useBench();

type Figures = Readonly<Record<string, unknown>>;

interface Endpoint {
  readonly name: string;
  readonly path: string;
  readonly model: string;
  readonly body: object;
  readonly names: { readonly prompt: string; readonly generated: string };
  readonly whole: (usage: unknown) => Script;
  readonly stream: (...usages: readonly unknown[]) => Script;
}

const user = { messages: [{ role: 'user', content: 'Hi' }] };
const finished = (usage: unknown) =>
  event('response.completed', { response: response([messageItem(TEXT)], undefined, { usage }) });
const chat: Endpoint = {
  name: 'chat',
  path: '/v1/chat/completions',
  model: 'lying/openai',
  body: user,
  names: { prompt: 'prompt_tokens', generated: 'completion_tokens' },
  whole: (usage) => json({ ...completion(TEXT), usage }),
  stream: (...usages) =>
    sse(
      chunk(delta(TEXT)),
      chunk(delta('', 'stop')),
      ...usages.map((usage) => chunk({ choices: [], usage })),
      DONE,
    ),
};
const ENDPOINTS: readonly Endpoint[] = [
  chat,
  {
    ...chat,
    name: 'messages, translated',
    path: '/v1/messages',
    model: 'lying/chat',
    body: { ...user, max_tokens: 100 },
  },
  {
    name: 'responses',
    path: '/v1/responses',
    model: 'lying/openai',
    body: { input: 'Hi' },
    names: { prompt: 'input_tokens', generated: 'output_tokens' },
    whole: (usage) => json(response([messageItem(TEXT)], undefined, { usage })),
    // A stream states it once, in its last event.
    stream: (...usages) => sse(...messageEvents(TEXT), finished(usages.at(-1))),
  },
  {
    name: 'messages',
    path: '/v1/messages',
    model: 'lying/anthropic',
    body: { ...user, max_tokens: 100 },
    names: { prompt: 'input_tokens', generated: 'output_tokens' },
    whole: (usage) => json(textMessage(TEXT, usage as object)),
    stream: (...usages) =>
      sse(
        messageStart(usages[0] as object),
        textDelta(TEXT),
        ...usages.map((usage) => messageDelta(usage as object)),
        MESSAGE_STOP,
      ),
  },
];

/** The prompt and output tokens that are reported, and those that are billed; undefined: what was counted here. */
const LIES: readonly (readonly [
  string,
  (names: Endpoint['names']) => unknown,
  number | undefined,
  number,
])[] = [
  ['nothing', () => undefined, undefined, 3],
  ['null', () => null, undefined, 3],
  ['a text', () => 'much', undefined, 3],
  ['a list', () => [{ prompt_tokens: 1 }], undefined, 3],
  ['an empty object', () => ({}), undefined, 3],
  ['less than nothing', ({ prompt, generated }) => ({ [prompt]: -9, [generated]: -4 }), undefined, 3],
  ['that nothing was used', ({ prompt, generated }) => ({ [prompt]: 0, [generated]: 0 }), undefined, 3],
  ['that nothing was generated', ({ prompt, generated }) => ({ [prompt]: 9, [generated]: 0 }), 9, 3],
  ['that nothing was read', ({ prompt, generated }) => ({ [prompt]: 0, [generated]: 4 }), undefined, 4],
  ['half a token', ({ prompt, generated }) => ({ [prompt]: 9.5, [generated]: 4.5 }), undefined, 3],
  ['texts', ({ prompt, generated }) => ({ [prompt]: '9', [generated]: '4' }), undefined, 3],
  [
    'more than a number holds',
    ({ prompt, generated }) => ({ [prompt]: 1e300, [generated]: 1e300 }),
    undefined,
    3,
  ],
  [
    'as much as a number holds',
    ({ prompt, generated }) => ({ [prompt]: 2 ** 53 - 1, [generated]: 2 ** 53 - 1 }),
    MAX_PROMPT,
    MAX_OUTPUT,
  ],
  [
    'more output than the route has',
    ({ prompt, generated }) => ({ [prompt]: 9, [generated]: 1_001 }),
    9,
    MAX_OUTPUT,
  ],
];

describe('a provider that lies about its usage', () => {
  before(async () => {
    const { baseUrl } = bench.provider;
    const route = { baseUrl, maxInputTokens: MAX_PROMPT, maxOutputTokens: MAX_OUTPUT };
    const surfaces = { chat: '/chat/completions', responses: '/responses' };
    const endpoints = ['chat', 'responses'];
    await addRoute(bench.database, { ...route, id: 'lying/openai', endpoints, flags: { surfaces } });
    await addRoute(bench.database, { ...route, id: 'lying/chat', endpoints: ['messages'] });
    const anthropic = { protocol: 'anthropic', endpoints: ['messages'] };
    await addRoute(bench.database, { ...route, ...anthropic, id: 'lying/anthropic' });
  });
  afterEach(() => assertNoDelays(bench.gateway.time));

  const ask = async ({ path, model, body }: Endpoint, script: Script, isStream: boolean) => {
    bench.provider.script = script;
    const got = await bench.gateway.post(path, bench.key.secret, { model, ...body, stream: isStream });
    assert.equal(got.status, 200);
    assert.match(await got.text(), /one two three/);
    return bench.recordOf(got);
  };

  for (const endpoint of ENDPOINTS) {
    for (const [title, usageOf, prompt, generated] of LIES) {
      it(`200 for ${endpoint.name}, when it says ${title}`, async () => {
        const usage = usageOf(endpoint.names);
        for (const isStream of [false, true]) {
          const script = isStream ? endpoint.stream(usage) : endpoint.whole(usage);
          const record = await ask(endpoint, script, isStream);
          const { promptTokens, tokensGenerated, costMicroPkr } = record;
          assert.equal(tokensGenerated, generated);
          if (prompt === undefined) assert.ok(promptTokens !== null && promptTokens > 0 && promptTokens < 30);
          else assert.equal(promptTokens, prompt);
          assert.equal(record.tokensEstimated, true);
          assert.equal(costMicroPkr, BigInt(promptTokens ?? 0) * INPUT + BigInt(tokensGenerated) * OUTPUT);
        }
      });
    }

    it(`200 for ${endpoint.name}, when it says that nothing was used: the row says why it is estimated`, async () => {
      const { prompt, generated } = endpoint.names;
      const { upstreamError } = await ask(endpoint, endpoint.whole({ [prompt]: 0, [generated]: 0 }), false);
      assert.match(upstreamError ?? '', /^the provider reported no tokens where there were some/);
    });

    it(`200 for ${endpoint.name}, when it says its usage twice: once billed`, async () => {
      const { prompt, generated } = endpoint.names;
      const usage: Figures = { [prompt]: 9, [generated]: 4 };
      const record = await ask(endpoint, endpoint.stream(usage, usage), true);
      assert.deepEqual(record, {
        ...record,
        promptTokens: 9,
        tokensGenerated: 4,
        tokensEstimated: false,
        costMicroPkr: 9n * INPUT + 4n * OUTPUT,
      });
    });
  }
});
