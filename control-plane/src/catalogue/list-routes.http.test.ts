import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { catalogue } from '@gatehouse/contract';
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

    assert.deepEqual(await client.call(catalogue.listRoutes), {
      routes: [
        {
          id: 'Z/last-of-none',
          provider: 'test',
          active: false,
          endpoints: ['messages'],
          price_pkr_per_million: {
            input: 0.000001,
            output: 0.000002,
            cache_write: 0.000003,
            cache_read: 0.000004,
          },
        },
        {
          id: 'a/one',
          provider: 'test',
          active: true,
          endpoints: ['chat'],
          price_pkr_per_million: {
            input: 0.000001,
            output: 8.2,
            cache_write: 0.100001,
            cache_read: 999999999.999999,
          },
        },
        {
          id: 'b/two',
          provider: 'b',
          active: true,
          endpoints: ['chat', 'completions', 'embeddings'],
          price_pkr_per_million: { input: 70, output: 560, cache_write: 0, cache_read: 7 },
        },
      ],
    });
  });
});
