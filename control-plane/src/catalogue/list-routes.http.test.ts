import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { catalogue } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { addRoute } from '../testing/add-route.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

describe('GET /routes', () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api?.[Symbol.asyncDispose]());

  it('200 with all routes by id, inactive ones included, with exact prices', async () => {
    const { client } = await api.signUp();
    assert.deepEqual(await client.call(catalogue.listRoutes), { routes: [] });

    await addRoute(api.database, 'b/two', {
      provider: 'b',
      endpoints: ['chat', 'completions', 'embeddings'],
      prices: [70_000_000n, 560_000_000n, 0n, 7_000_000n],
    });
    await addRoute(api.database, 'Z/last-of-none', { isActive: false, endpoints: ['messages'] });
    await addRoute(api.database, 'a/one', { prices: [1n, 8_200_000n, 100_001n, 999_999_999_999_999n] });
    await runSql(api.database)`INSERT INTO route_aliases VALUES ('one', 'a/one'), ('Z-one', 'a/one')`;
    await runSql(api.owner)`
      UPDATE route_targets SET price_per_call = '{"web_search": 2850001}', price_tiers = '[{"abovePromptTokens": 272000,
        "input": 999999999999999, "output": 1, "cacheWrite": 0, "cacheRead": 1000000, "cacheWrite1h": 2000000}]'
      WHERE route_id = 'a/one'`;

    // The first target of a/one takes no key of an organisation, the second one does.
    await runSql(api.owner)`INSERT INTO provider_credentials (provider, position, name, api_key_env)
      VALUES ('b', 0, 'default', 'B_API_KEY')`;
    await runSql(api.owner)`INSERT INTO route_targets
      SELECT (jsonb_populate_record(t, '{"position": 1, "provider": "b"}')).* FROM route_targets t WHERE route_id = 'a/one'`;

    assert.deepEqual(await client.call(catalogue.listRoutes), {
      routes: [
        {
          id: 'Z/last-of-none',
          aliases: [],
          provider: 'test',
          byok_providers: [],
          active: false,
          endpoints: ['messages'],
          price_pkr_per_million: {
            input: 0.000001,
            output: 0.000002,
            cache_write: 0.000003,
            cache_read: 0.000004,
            cache_write_1h: 0.000003,
            tiers: [],
          },
          price_pkr_per_call: {},
        },
        {
          id: 'a/one',
          aliases: ['Z-one', 'one'],
          provider: 'test',
          byok_providers: ['b'],
          active: true,
          endpoints: ['chat'],
          price_pkr_per_million: {
            input: 0.000001,
            output: 8.2,
            cache_write: 0.100001,
            cache_read: 999999999.999999,
            cache_write_1h: 0.100001,
            tiers: [
              {
                above_prompt_tokens: 272_000,
                input: 999999999.999999,
                output: 0.000001,
                cache_write: 0,
                cache_read: 1,
                cache_write_1h: 2,
              },
            ],
          },
          price_pkr_per_call: { web_search: 2.850001 },
        },
        {
          id: 'b/two',
          aliases: [],
          provider: 'b',
          byok_providers: ['b'],
          active: true,
          endpoints: ['chat', 'completions', 'embeddings'],
          price_pkr_per_million: {
            input: 70,
            output: 560,
            cache_write: 0,
            cache_read: 7,
            cache_write_1h: 0,
            tiers: [],
          },
          price_pkr_per_call: {},
        },
      ],
    });
  });
});
