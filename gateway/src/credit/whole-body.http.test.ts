import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { surfacesAtDefaultPaths } from '@gatehouse/contract';
import { assertError, useBench } from '../testing/bench.ts';
import { completion, json } from '../testing/mock-provider.ts';
import { addRoute, issueKey, moneyOf } from '../testing/test-gateway.ts';

const TEXT = 'word '.repeat(60_000);
const INPUT_TOKEN = 70n;

const bench = await useBench();

// A provider that reads the whole of a body as its prompt, as some do with members that others pass over.
const billed = (body: object) => Math.ceil(Buffer.byteLength(JSON.stringify(body)) / 5);

describe('300 KB in a place that no rule knows', () => {
  before(async () => {
    const { baseUrl } = bench.provider;
    const flags = { surfaces: surfacesAtDefaultPaths(['chat', 'completions', 'embeddings']) };
    const endpoints = ['chat', 'completions', 'embeddings'] as const;
    for (const [id, maxInputTokens] of [
      ['mock/large', 400_000],
      ['mock/small', 2_000],
    ] as const) {
      await addRoute(bench.database, { baseUrl, id, flags, endpoints, maxInputTokens });
    }
    bench.provider.script = async (response, asked) => {
      const prompt = billed(asked.body);
      await json(completion('x', { prompt, completion: 1 }))(response, asked);
    };
  });

  const messages = [{ role: 'user', content: 'Hi' }];
  const parts = (part: object) => ({ messages: [{ role: 'user', content: [part] }] });
  const SHAPES = {
    'a refusal beside a text': parts({ type: 'text', text: 'Hi', refusal: TEXT }),
    'a cache mark': parts({ type: 'text', text: 'Hi', cache_control: { type: TEXT } }),
    'the detail of a picture': parts({
      type: 'image_url',
      image_url: { url: 'https://x.test/a', detail: TEXT },
    }),
    documents: { messages, documents: [{ text: TEXT }] },
    'a chat template': { messages, chat_template: TEXT },
    'an unknown member': { messages, unknown: { of: [TEXT] } },
    'the name of a member': { messages, [TEXT]: null },
    'the name of a member of a message': { messages: [{ ...messages[0], [TEXT]: null }] },
    stop: { messages, stop: [TEXT] },
    user: { messages, user: TEXT },
    'a choice of tools': { messages, tool_choice: { type: 'function', function: { name: TEXT } } },
    'a bias': { messages, logit_bias: { [TEXT]: 1 } },
    'the options of a stream': { messages, stream_options: { x: TEXT } },
  };
  for (const [title, body] of Object.entries(SHAPES)) {
    it(`402 for ${title}, or it is paid for from a hold that covers it`, async () => {
      const asked = bench.provider.asked.length;
      const poor = await issueKey(bench.database, { creditLimitMicroPkr: 50_000n * INPUT_TOKEN });
      const refused = await bench.gateway.chat(poor.secret, { model: 'mock/large', max_tokens: 1, ...body });
      const refusal = { status: 402, code: 'key_credit_exhausted', type: 'insufficient_quota' };
      await assertError(refused, refusal);
      assert.equal(bench.provider.asked.length, asked, 'nothing is sent');

      const key = await issueKey(bench.database);
      const { script } = bench.provider;
      let held = 0n;
      bench.provider.script = async (response, sent) => {
        held = (await moneyOf(bench.database, key.id)).keyHeld;
        await script(response, sent);
      };
      // Beyond the context that the route states, too: what was counted here is not free.
      const response = await bench.gateway.chat(key.secret, { model: 'mock/small', max_tokens: 1, ...body });
      await response.text();
      bench.provider.script = script;
      assert.equal(response.status, 200);
      const { costMicroPkr, promptTokens } = await bench.recordOf(response);
      assert.ok((promptTokens ?? 0) > 58_000, String(promptTokens));
      assert.ok(costMicroPkr <= held && costMicroPkr > 58_000n * INPUT_TOKEN, `${costMicroPkr} of ${held}`);
    });
  }

  it('400 for a role of more than 32 characters, or one that is no text', async () => {
    for (const role of ['x'.repeat(33), TEXT, { a: TEXT }, 7]) {
      const response = await bench.gateway.chat(bench.key.secret, { messages: [{ role, content: 'Hi' }] });
      const param = 'messages[0].role';
      await assertError(response, {
        status: 400,
        code: 'invalid_request',
        type: 'invalid_request_error',
        param,
      });
    }
  });
});
