import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RecentMap } from './recent-map.ts';

describe('RecentMap', () => {
  it('drops the oldest that was not used past its number of entries', () => {
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
    assert.deepEqual([map.get('d'), map.size, map.bytes], [undefined, 2, 10]);
    map.set('c', 6, 11);
    assert.deepEqual([map.get('c'), map.size, map.bytes], [undefined, 1, 6]);
    map.delete('b');
    map.delete('b');
    assert.deepEqual([map.size, map.bytes], [0, 0]);
  });

  it('drops one where all were used, and gives each of them another turn', () => {
    const map = new RecentMap<number>({ entries: 3, bytes: 1_000 });
    for (const [index, name] of ['a', 'b', 'c'].entries()) map.set(name, index, 1);
    for (const name of ['c', 'b', 'a']) map.get(name);
    map.set('d', 3, 1);
    assert.equal(map.size, 3);
    map.get('b');
    map.set('e', 4, 1);
    assert.deepEqual(
      ['a', 'b', 'c', 'd', 'e'].map((name) => map.get(name)),
      [undefined, 1, undefined, 3, 4],
    );
  });
});
