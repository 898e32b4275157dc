import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { KeyId } from '@gatehouse/contract';
import { assertError, useBench } from '../testing/bench.ts';
import { completion, json } from '../testing/mock-provider.ts';
import { addRoute, issueKey, moneyOf } from '../testing/test-gateway.ts';
import { storeVaultKey } from '../testing/vault-key.ts';

const OUTPUT_TOKEN = 560n;

const bench = await useBench();

describe('a prompt with a part whose tokens cannot be counted', () => {
  const picture = (text = 'Hi', type = 'image_url') => ({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text },
          { type, [type]: { url: 'data:image/png;base64,AA' } },
        ],
      },
    ],
    max_tokens: 10,
  });
  const OUTPUT = 10n * OUTPUT_TOKEN;
  before(async () => {
    bench.provider.script = json(completion('x', { prompt: 8, completion: 1 }));
    const { baseUrl } = bench.provider;
    const route = { baseUrl, maxInputTokens: 50_000 };
    await addRoute(bench.database, { ...route, id: 'mock/pictures' });
    const searching = { ...route, allow: [{ member: 'web_search_options', values: null }] };
    const microPkrPerCall = { web_search: 1n };
    await addRoute(bench.database, { ...searching, id: 'mock/searching', microPkrPerCall });
    await addRoute(bench.database, {
      ...searching,
      id: 'mock/searching-or-not',
      targets: [{ microPkrPerCall }, {}],
    });
    const flags = { surfaces: { responses: '/responses' } };
    const allow = [{ member: 'prompt.id', values: null }];
    await addRoute(bench.database, {
      ...route,
      id: 'mock/responses',
      endpoints: ['responses'],
      flags,
      allow,
    });
  });
  /** The amount that a request holds while the provider works on it. */
  const heldBy = async (key: { secret: string; id: KeyId }, body: object) => {
    const { script } = bench.provider;
    let held: bigint | undefined;
    bench.provider.script = async (response, asked) => {
      held = (await moneyOf(bench.database, key.id)).keyHeld;
      await script(response, asked);
    };
    const response = await bench.gateway.chat(key.secret, body);
    await response.text();
    assert.equal(response.status, 200);
    bench.provider.script = script;
    return held;
  };

  it('200 holds the whole context that the route states, or the prompt where that is longer', async () => {
    const key = await issueKey(bench.database);
    const body = { model: 'mock/pictures', ...picture() };
    assert.equal(await heldBy(key, body), 50_000n * 70n + OUTPUT);
    const other = await issueKey(bench.database);
    const long = { model: 'mock/pictures', ...picture('one two '.repeat(30_000)) };
    assert.ok(((await heldBy(other, long)) ?? 0n) > 60_000n * 70n + OUTPUT);
    const poor = await issueKey(bench.database, { creditLimitMicroPkr: 50_000n * 70n + OUTPUT - 1n });
    await assertError(await bench.gateway.chat(poor.secret, body), REFUSAL);
  });

  const REFUSAL = { status: 402, code: 'key_credit_exhausted', type: 'insufficient_quota' };
  const PICTURE = 'parts of the type image_url';
  const SEARCH = { messages: [{ role: 'user', content: 'Hi' }], web_search_options: {} };
  for (const [title, model, body, what] of [
    ['a part', 'mock/pictures', picture(), PICTURE],
    ['a search', 'mock/searching', SEARCH, 'calls of web_search'],
    [
      'a part and a search',
      'mock/searching',
      { ...SEARCH, ...picture() },
      `${PICTURE} and calls of web_search`,
    ],
    ['a member', 'mock/responses', { prompt: { id: 'pmpt_1' } }, 'the member prompt'],
  ] as const) {
    it(`402 names ${title} that the whole context is held for`, async () => {
      const poor = await issueKey(bench.database, { creditLimitMicroPkr: 1n });
      const path = model === 'mock/responses' ? '/v1/responses' : '/v1/chat/completions';
      const response = await bench.gateway.post(path, poor.secret, { model, ...body });
      const message = await assertError(response, REFUSAL);
      const advice = `Ask for a higher limit; without ${what} it needs less: what that adds to the prompt cannot be counted in advance, so all 50000 tokens of the context are held. A smaller output limit lowers it too.`;
      assert.ok(message.endsWith(advice), message);
    });
  }

  for (const [title, body] of [
    ['the cheapest target runs no search', { model: 'mock/searching-or-not', ...SEARCH }],
    [
      'the prompt is longer than the context',
      { model: 'mock/pictures', ...picture('one two '.repeat(30_000)) },
    ],
  ] as const) {
    it(`402 names nothing where ${title}`, async () => {
      const poor = await issueKey(bench.database, { creditLimitMicroPkr: 1n });
      const message = await assertError(await bench.gateway.chat(poor.secret, body), REFUSAL);
      assert.match(
        message,
        /Ask for a higher limit; a shorter prompt or a smaller output limit needs less\.$/,
      );
    });
  }

  it('400 by its name on platform capacity where the route states none, and 200 with the organisation’s own key', async () => {
    const asked = bench.provider.asked.length;
    for (const type of ['image_url', 'input_audio', 'file', 'hologram']) {
      const response = await bench.gateway.chat(bench.key.secret, picture('Hi', type));
      const refusal = {
        status: 400,
        code: 'invalid_request',
        type: 'invalid_request_error',
        param: 'messages',
      };
      assert.match(await assertError(response, refusal), new RegExp(`${type}.*max_input_tokens`));
    }
    assert.equal(bench.provider.asked.length, asked);
    const own = await issueKey(bench.database, { depositedMicroPkr: 0n });
    await storeVaultKey(bench.database, own, 'provider of mock/model', 'sk-own-0123456789');
    // 5 % of 2,000 tokens for the picture, a few for the rest, and the output.
    const held = (await heldBy(own, { model: 'mock/model', ...picture() })) ?? 0n;
    assert.ok(held > (2_000n * 70n + OUTPUT) / 20n && held < (2_020n * 70n + OUTPUT) / 20n, String(held));
  });
});
