import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeBenchProfile } from './bench-profile.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('makeBenchProfile', () => {
  const profile = makeBenchProfile({ organizations: 100, seed: 1 });

  it('has a hundred organisations, of which the largest has a fifth of all requests', () => {
    const weights = profile.organizations.map(({ weight }) => weight);
    const share = (weights[0] ?? 0) / weights.reduce((sum, weight) => sum + weight, 0);
    assert.equal(weights.length, 100);
    assert.ok(share > 0.18 && share < 0.21, `${share}`);
    assert.deepEqual(
      weights,
      weights.toSorted((a, b) => b - a),
    );
  });

  it('gives each 5 to 60 keys in several projects, with unique ids', () => {
    const counts = profile.organizations.map(({ keys }) => keys.length);
    assert.deepEqual([Math.max(...counts), Math.min(...counts)], [60, 5]);
    for (const { keys } of profile.organizations)
      assert.ok(new Set(keys.map(({ projectId }) => projectId)).size >= 2);
    const keys = profile.organizations.flatMap((organization) => organization.keys);
    const ids = [...keys, ...profile.organizations].map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    for (const id of [...ids, ...keys.map(({ projectId }) => projectId)]) assert.match(id, UUID);
    assert.equal(new Set(profile.models.map(({ id }) => id)).size, 20);
  });

  it('depends on the seed alone', () => {
    assert.deepEqual(makeBenchProfile({ organizations: 100, seed: 1 }), profile);
    assert.notDeepEqual(
      makeBenchProfile({ organizations: 100, seed: 2 }).organizations,
      profile.organizations,
    );
  });
});
