import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeBenchWorld } from './bench-world.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('makeBenchWorld', () => {
  const world = makeBenchWorld({ organizations: 100, seed: 1 });

  it('has a hundred organisations, of which the largest has a fifth of all requests', () => {
    const weights = world.organizations.map(({ weight }) => weight);
    const share = (weights[0] ?? 0) / weights.reduce((sum, weight) => sum + weight, 0);
    assert.equal(weights.length, 100);
    assert.ok(share > 0.18 && share < 0.21, `${share}`);
    assert.deepEqual(
      weights,
      weights.toSorted((a, b) => b - a),
    );
  });

  it('gives each from 5 to 60 keys in several projects, with ids of their own', () => {
    const counts = world.organizations.map(({ keys }) => keys.length);
    assert.deepEqual([Math.max(...counts), Math.min(...counts)], [60, 5]);
    for (const { keys } of world.organizations)
      assert.ok(new Set(keys.map(({ projectId }) => projectId)).size >= 2);
    const keys = world.organizations.flatMap((organization) => organization.keys);
    const ids = [...keys, ...world.organizations].map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    for (const id of [...ids, ...keys.map(({ projectId }) => projectId)]) assert.match(id, UUID);
    assert.equal(new Set(world.models.map(({ id }) => id)).size, 20);
  });

  it('is the same for the same seed, and another for another', () => {
    assert.deepEqual(makeBenchWorld({ organizations: 100, seed: 1 }), world);
    assert.notDeepEqual(makeBenchWorld({ organizations: 100, seed: 2 }).organizations, world.organizations);
  });
});
