import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OrganizationId } from '@gatehouse/contract';
import { useTestDatabase } from '@gatehouse/store/testing';
import { addRoute } from '../testing/test-gateway.ts';
import { findRoute } from './queries.ts';

const ORGANIZATION = '00000000-0000-4000-8000-000000000000' as OrganizationId;

const test = await useTestDatabase();

describe('findRoute', () => {
  const limitsOf = async (id: string) => {
    const route = await findRoute(test.database, id, ORGANIZATION);
    assert.ok(route);
    const { defaultOutputTokens, minOutputTokens, maxInputTokens, targets } = route;
    return [defaultOutputTokens, minOutputTokens, maxInputTokens, targets[0].provider.outputLimit];
  };

  it('gives a route without limits of its own the defaults, never above its maximum', async () => {
    await addRoute(test.database, { id: 'a/large', maxOutputTokens: 128_000 });
    assert.deepEqual(await limitsOf('a/large'), [32_000n, 1_024n, null, 'max_completion_tokens']);
    await addRoute(test.database, { id: 'a/small', maxOutputTokens: 1_000 });
    assert.deepEqual(await limitsOf('a/small'), [1_000n, 1_000n, null, 'max_completion_tokens']);
  });

  it('gives the limits that the catalogue states', async () => {
    await addRoute(test.database, {
      id: 'a/stated',
      maxOutputTokens: 128_000,
      defaultOutputTokens: 64_000,
      minOutputTokens: 1,
      maxInputTokens: 400_000,
      outputLimit: 'both',
    });
    assert.deepEqual(await limitsOf('a/stated'), [64_000n, 1n, 400_000n, 'both']);
  });
});
