import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { StatedProviderFlags } from '@gatehouse/contract';
import { useBench } from '../testing/bench.ts';
import { completion, json } from '../testing/mock-provider.ts';
import { addRoute, PLATFORM_KEY } from '../testing/test-gateway.ts';

const bench = await useBench();
let routes = 0;

/** Sends a chat completion to a provider with these flags. */
async function ask(flags: StatedProviderFlags, body: object = {}, headers: Record<string, string> = {}) {
  routes += 1;
  const id = `mock/flags-${routes}`;
  await addRoute(bench.database, { id, baseUrl: bench.provider.baseUrl, flags, outputLimit: 'max_tokens' });
  const response = await bench.gateway.chat(bench.key.secret, { model: id, ...body }, { headers });
  assert.equal(response.status, 200, await response.text());
  return { response, asked: bench.provider.asked.at(-1) ?? assert.fail() };
}

describe("a provider's flags", () => {
  before(() => {
    bench.provider.script = json(completion('x', { prompt: 1, completion: 1 }));
  });

  for (const [auth, name, value] of [
    ['bearer', 'authorization', `Bearer ${PLATFORM_KEY}`],
    ['x-api-key', 'x-api-key', PLATFORM_KEY],
    ['api-key', 'api-key', PLATFORM_KEY],
    [{ header: 'X-Goog-Api-Key' }, 'x-goog-api-key', PLATFORM_KEY],
    ['none', 'none', undefined],
  ] as const) {
    it(`200 with the credential in the form of ${JSON.stringify(auth)}`, async () => {
      const { asked } = await ask({ auth });
      const credentials = Object.entries(asked.headers).filter(([, sent]) =>
        String(sent).includes(PLATFORM_KEY),
      );
      assert.deepEqual(credentials, value === undefined ? [] : [[name, value]]);
    });
  }

  it('200 with its headers, before those of the caller, and its query', async () => {
    const flags = {
      headers: { 'x-title': 'Gatehouse', 'openai-beta': 'ours' },
      query: { v: '1 &2', w: '3' },
    };
    const { asked } = await ask(flags, {}, { 'openai-beta': 'theirs', 'openai-version': '2020-10-01' });
    assert.equal(asked.headers['x-title'], 'Gatehouse');
    assert.equal(asked.headers['openai-beta'], 'ours');
    assert.equal(asked.headers['openai-version'], '2020-10-01');
    assert.equal(asked.path, '/v1/chat/completions?v=1+%262&w=3');
  });

  it('200 at the path of the surface', async () => {
    const { asked } = await ask({ surfaces: { chat: '/text/chatcompletion_v2' } });
    assert.equal(asked.path, '/v1/text/chatcompletion_v2');
  });

  it('200 without the members that are dropped, which the answer names', async () => {
    const { asked, response } = await ask(
      { drop: ['user', 'seed', 'absent'] },
      { user: 'me', seed: 1, n: 1 },
    );
    assert.deepEqual(Object.keys(asked.body), ['model', 'max_tokens', 'messages', 'n']);
    assert.equal(response.headers.get('x-gatehouse-dropped'), 'user, seed');
  });

  it('200 with the common members alone where a provider refuses others', async () => {
    const sent = { seed: 1, temperature: 1, max_completion_tokens: 5, logit_bias: {}, 'odd, "é"': 1 };
    const { asked, response } = await ask({ strictFields: true }, sent);
    assert.deepEqual(Object.keys(asked.body), ['model', 'messages', 'temperature', 'max_tokens']);
    assert.equal(response.headers.get('x-gatehouse-dropped'), 'seed, logit_bias, odd??"?"');
  });

  it('200 with a bounded list of what was dropped', async () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`x${index}`, 1]));
    const { response } = await ask({ strictFields: true }, many);
    const names = response.headers.get('x-gatehouse-dropped')?.split(', ') ?? [];
    assert.equal(names.length, 33);
    assert.equal(names.at(-1), '...');
  });

  for (const [streamUsage, given, options] of [
    ['ask', undefined, { include_usage: true }],
    ['always', undefined, undefined],
    ['always', { include_usage: false }, { include_usage: false }],
    ['never', { include_usage: true }, undefined],
  ] as const) {
    it(`200 with ${JSON.stringify(options)} for a stream with ${JSON.stringify(given)} (usage: ${streamUsage})`, async () => {
      const { asked } = await ask({ streamUsage }, { stream: true, stream_options: given });
      assert.deepEqual(asked.body['stream_options'], options);
    });
  }

  it('200 without a request for usage where strict fields do not know it', async () => {
    const { asked } = await ask({ strictFields: true }, { stream: true });
    assert.deepEqual(Object.keys(asked.body), ['model', 'max_tokens', 'messages', 'stream']);
  });
});
