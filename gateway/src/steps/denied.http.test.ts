import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { DEFAULT_DENY, REFERENCES, surfacesAtDefaultPaths } from '@gatehouse/contract';
import { assertError, useBench } from '../testing/bench.ts';
import { addRoute, issueKey, moneyOf } from '../testing/test-gateway.ts';
import { storeVaultKey } from '../testing/vault-key.ts';

const fn = { type: 'function', function: { name: 'f', description: 'x'.repeat(3_000), parameters: {} } };

const bench = await useBench();

describe('members of a request that cost the platform more than the route', () => {
  before(async () => {
    const { database, provider } = bench;
    const { baseUrl } = provider;
    const allow = [
      { member: 'web_search_options', values: null },
      { member: 'service_tier', values: ['priority'] },
    ];
    await addRoute(database, { id: 'mock/priced', baseUrl, allow });
    await addRoute(database, { id: 'mock/own-list', baseUrl, deny: [{ member: 'logprobs', values: null }] });
    await addRoute(database, { id: 'mock/any', baseUrl, deny: [] });
    const kept = {
      baseUrl,
      maxInputTokens: 50_000,
      endpoints: ['chat', 'messages', 'responses'],
      flags: { surfaces: surfacesAtDefaultPaths(['chat', 'messages', 'responses']) },
    } as const;
    const deny = DEFAULT_DENY.filter(({ member }) => member !== 'tools');
    await addRoute(database, { ...kept, id: 'mock/kept', deny });
    const references = [...REFERENCES, 'container'].map((member) => ({ member, values: null }));
    await addRoute(database, { ...kept, id: 'mock/kept-allowed', deny, allow: references });
  });

  const refused = async (body: Record<string, unknown>, param: string) => {
    const asked = bench.provider.asked.length;
    const response = await bench.gateway.chat(bench.key.secret, body);
    const expected = { status: 400, code: 'invalid_request', type: 'invalid_request_error', param };
    const message = await assertError(response, expected);
    assert.equal(bench.provider.asked.length, asked, 'nothing is sent');
    const { keyHeld, keySpent } = await moneyOf(bench.database, bench.key.id);
    assert.deepEqual([keyHeld, keySpent], [0n, 0n]);
    await bench.assertRecord(response, { status: 400, costMicroPkr: 0n });
    return message;
  };
  const assertRefused = async (response: Response, path: string, param: string) => {
    assert.equal(response.status, 400);
    const { error } = (await response.json()) as { error: { message: string; param?: string } };
    assert.ok(
      error.message.startsWith(`${param} is not part of the price of the model mock/kept.`),
      error.message,
    );
    if (path !== 'messages') assert.equal(error.param, param.split('.')[0]);
  };
  const passed = async (secret: string, body: Record<string, unknown>) => {
    const response = await bench.gateway.chat(secret, body);
    assert.equal(response.status, 200, await response.text());
    const sent = bench.provider.asked.at(-1)?.body;
    for (const [name, value] of Object.entries(body)) {
      if (name !== 'model') assert.deepEqual(sent?.[name], value, name);
    }
  };

  for (const [member, body] of Object.entries({
    service_tier: { service_tier: 'priority' },
    web_search_options: { web_search_options: {} },
    tools: { tools: [fn, { type: 'web_search' }] },
    models: { models: ['mock/dear'] },
    route: { route: 'fallback' },
    plugins: { plugins: [{ id: 'web' }] },
    provider: { provider: { order: ['dear'] } },
    modalities: { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } },
    audio: { audio: { voice: 'alloy', format: 'wav' } },
    speed: { speed: 'fast' },
    inference_geo: { inference_geo: 'us' },
  })) {
    it(`400 for ${member}, and nothing is spent`, async () => {
      await refused(body, member);
    });
  }

  const part = (value: object) => ({ messages: [{ role: 'user', content: [value] }] });
  for (const [title, path, body, param] of [
    ['a file in a chat', 'chat/completions', part({ type: 'file', file: { file_id: 'f' } }), 'file_id'],
    [
      'an earlier recording',
      'chat/completions',
      { messages: [{ role: 'assistant', audio: { id: 'a' } }] },
      'audio.id',
    ],
    [
      'a cache of Gemini',
      'chat/completions',
      { messages: [{ role: 'user', content: 'Hi' }], extra_body: { google: { cached_content: 'c' } } },
      'cached_content',
    ],
    [
      'a file in a message',
      'messages',
      part({ type: 'document', source: { type: 'file', file_id: 'f' } }),
      'file_id',
    ],
    ['a file for a container', 'messages', part({ type: 'container_upload', file_id: 'f' }), 'file_id'],
    [
      'a file in an input',
      'responses',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }] },
      'file_id',
    ],
    ['a stored prompt', 'responses', { prompt: { id: 'pmpt_1' } }, 'prompt.id'],
    [
      'a container of a tool',
      'responses',
      { input: 'Hi', tools: [{ type: 'code_interpreter', container: 'cntr_1' }] },
      'container',
    ],
  ] as const) {
    it(`400 for ${title} that the provider keeps for the account, and 200 where that is allowed or one's own`, async () => {
      const asked = bench.provider.asked.length;
      const post = (secret: string, model: string) =>
        bench.gateway.post(`/v1/${path}`, secret, { model, ...body });
      const response = await post(bench.key.secret, 'mock/kept');
      await assertRefused(response, path, param);
      assert.equal(bench.provider.asked.length, asked, 'nothing is sent');
      const other = await issueKey(bench.database);
      const allowed = await post(other.secret, 'mock/kept-allowed');
      await allowed.text();
      const own = await issueKey(bench.database);
      await storeVaultKey(bench.database, own, 'provider of mock/kept', 'sk-own-0123456789');
      const owned = await post(own.secret, 'mock/kept');
      await owned.text();
      assert.equal(bench.provider.asked.length, asked + 2);
    });
  }

  it('400 says what is accepted and what can be done', async () => {
    assert.equal(
      await refused({ service_tier: 'priority' }, 'service_tier'),
      'service_tier "priority" is not part of the price of the model mock/model. Accepted: auto, default, standard, standard_only, on_demand, flex. Leave it out, or store your organization\'s own key for the provider provider of mock/model.',
    );
    assert.match(
      await refused({ models: ['a'] }, 'models'),
      /^models is not part of the price .*\. Leave it out/,
    );
  });

  it('400 for a member too large to be looked into, and for a hosted tool behind a hundred others', async () => {
    await refused({ models: ['x'.repeat(5_000)] }, 'models');
    await refused({ service_tier: `priority${' '.repeat(5_000)}` }, 'service_tier');
    const tools = [
      ...Array.from({ length: 100 }, () => fn),
      { type: 'mcp', server_url: 'https://a.example' },
    ];
    await refused({ tools }, 'tools');
    await refused({ tools: [fn, { google_search: {} }] }, 'tools');
  });

  it('200 for what clients send by default, null included', async () => {
    const { secret } = await issueKey(bench.database);
    await passed(secret, {
      service_tier: 'auto',
      web_search_options: null,
      modalities: ['text'],
      audio: null,
      tools: [fn, { type: 'custom', custom: { name: 'c' } }],
      tool_choice: 'auto',
      metadata: { team: 'a' },
      a_member_of_tomorrow: { x: 1 },
    });
  });

  it('200 where the route prices them, and 400 for the others', async () => {
    const { secret } = await issueKey(bench.database);
    await passed(secret, { model: 'mock/priced', service_tier: 'priority', web_search_options: {} });
    await refused({ model: 'mock/priced', speed: 'fast' }, 'speed');
  });

  it("400 by the provider's own list where the catalogue has one", async () => {
    const { secret } = await issueKey(bench.database);
    await passed(secret, { model: 'mock/own-list', service_tier: 'priority' });
    await refused({ model: 'mock/own-list', logprobs: true }, 'logprobs');
    await passed(secret, { model: 'mock/any', service_tier: 'priority', logprobs: true });
  });

  it("200 for all of them with the organisation's own key, untouched", async () => {
    const own = await issueKey(bench.database);
    await storeVaultKey(bench.database, own, 'provider of mock/model', 'sk-own-0123456789');
    await passed(own.secret, {
      service_tier: 'priority',
      web_search_options: { search_context_size: 'high' },
      tools: [{ type: 'web_search' }],
      models: ['a'],
      route: 'fallback',
      plugins: [{ id: 'web' }],
      modalities: ['text', 'audio'],
      audio: { voice: 'alloy', format: 'wav' },
      speed: 'fast',
      inference_geo: 'us',
    });
  });
});
