import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RecentMap } from './recent-map.ts';

describe('RecentMap', () => {
  it('drops what was used the longest ago past its number of entries', () => {
    const map = new RecentMap<number>({ entries: 2, bytes: 1_000 });
    map.set('a', 1, 1);
    map.set('b', 2, 1);
    assert.equal(map.get('a'), 1);
    map.set('c', 3, 1);
    assert.deepEqual([map.get('a'), map.get('b'), map.get('c'), map.size], [1, undefined, 3, 2]);
  });

  it('drops it past its bytes, and keeps nothing that is larger', () => {
    const map = new RecentMap<number>({ entries: 100, bytes: 10 });
    map.set('a', 1, 4);
    map.set('b', 2, 4);
    map.set('b', 3, 6);
    assert.deepEqual([map.get('a'), map.get('b'), map.bytes], [1, 3, 10]);
    map.set('c', 4, 4);
    assert.deepEqual([map.get('a'), map.get('b'), map.get('c'), map.bytes], [undefined, 3, 4, 10]);
    map.set('d', 5, 11);
    assert.deepEqual([map.size, map.bytes], [0, 0]);
    map.delete('d');
    assert.equal(map.bytes, 0);
  });
});
