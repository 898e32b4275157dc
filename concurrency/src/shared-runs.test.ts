import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SharedRuns } from './shared-runs.ts';

/** Work that ends when it is told to, and counts its runs. */
function controlled() {
  const ends: PromiseWithResolvers<number>[] = [];
  return {
    ends,
    work: () => {
      const end = Promise.withResolvers<number>();
      ends.push(end);
      return end.promise;
    },
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('SharedRuns', () => {
  it('is one run for all that ask during another, begun after they asked', async () => {
    const runs = new SharedRuns<number>();
    const { ends, work } = controlled();
    const first = runs.run('a', work);
    const others = Array.from({ length: 1_000 }, () => runs.run('a', work));
    await settled();
    assert.equal(ends.length, 1);
    ends[0]?.resolve(1);
    assert.equal(await first, 1);
    await settled();
    assert.equal(ends.length, 2);
    const late = runs.run('a', work);
    ends[1]?.resolve(2);
    assert.deepEqual(new Set(await Promise.all(others)), new Set([2]));
    await settled();
    ends[2]?.resolve(3);
    assert.equal(await late, 3);
    await settled();
    assert.deepEqual([ends.length, runs.keys], [3, 0]);
  });

  it('keeps keys apart', async () => {
    const runs = new SharedRuns<string>();
    const results = ['a', 'b', 'a'].map((key) => runs.run(key, async () => key));
    assert.equal(runs.keys, 2);
    assert.deepEqual(await Promise.all(results), ['a', 'b', 'a']);
  });

  it('fails for those that waited for the run that failed, and for no others', async () => {
    const runs = new SharedRuns<number>();
    const { ends, work } = controlled();
    const first = runs.run('a', work);
    const second = runs.run('a', work);
    ends[0]?.reject(new Error('first'));
    await assert.rejects(first, /first/);
    await settled();
    ends[1]?.resolve(2);
    assert.equal(await second, 2);
    await settled();
    assert.equal(runs.keys, 0);
  });
});
