import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isolated, selectedWindow, stacked, toggled } from './series.ts';

describe('series of a chart', () => {
  it('stack, and unknown values add nothing', () => {
    assert.deepEqual(
      stacked([
        [1, 2],
        [3, null],
        [null, 5],
      ]),
      [
        [1, 2],
        [4, 2],
        [4, 7],
      ],
    );
    assert.deepEqual(stacked([]), []);
  });

  it('are shown alone by a click, and all by the next one', () => {
    const all = ['a', 'b', 'c'];
    const alone = isolated('b', new Set(all), all);
    assert.deepEqual([...alone], ['b']);
    assert.deepEqual([...isolated('b', alone, all)], all);
    assert.deepEqual([...isolated('c', alone, all)], ['c']);
  });

  it('are switched one by one, but never all off', () => {
    assert.deepEqual([...toggled('a', new Set(['a', 'b']))], ['b']);
    assert.deepEqual([...toggled('b', new Set(['b']))], ['b']);
    assert.deepEqual([...toggled('a', new Set(['b']))], ['b', 'a']);
  });

  it('are zoomed by whole buckets', () => {
    const starts = [0, 10, 20, 30];
    assert.deepEqual(selectedWindow(starts, 10, 12, 27), { fromMs: 10, toMs: 30 });
    assert.deepEqual(selectedWindow(starts, 10, -5, 35), { fromMs: 0, toMs: 40 });
    assert.equal(selectedWindow([], 10, 0, 5), undefined);
  });
});
