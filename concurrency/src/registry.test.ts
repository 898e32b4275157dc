import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry } from './registry.ts';

describe('Registry', () => {
  it('has what was added and not removed, in whatever order', () => {
    const registry = new Registry<number>();
    const removals = [0, 1, 2, 3, 4].map((item) => registry.add(item));
    const expected = new Set([0, 1, 2, 3, 4]);
    for (const removed of [1, 4, 0, 3, 2]) {
      removals[removed]?.();
      expected.delete(removed);
      assert.deepEqual(new Set(registry.items), expected);
      assert.equal(registry.size, expected.size);
    }
  });

  it('ignores a second removal, also when another has taken the place', () => {
    const registry = new Registry<string>();
    const remove = registry.add('a');
    remove();
    registry.add('b');
    remove();
    assert.deepEqual(registry.items, ['b']);
  });
});
