import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
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
