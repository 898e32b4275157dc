import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hashGatewayKey } from '@gatehouse/contract';
import type { Queryable } from '@gatehouse/store';
import { PreviousUse } from './previous-use.ts';

/** A writer of uses and its writes, by a clock that the test moves; with `fails`, nothing can be written. */
function start({ fails = false } = {}) {
  const clock = { ms: 0 };
  const written: number[] = [];
  const warned: unknown[] = [];
  const database = {
    run: async (_statement: unknown, { secretHashes }: { secretHashes: readonly unknown[] }) => {
      if (fails) throw new Error('no');
      written.push(secretHashes.length);
      return secretHashes.length;
    },
  } as unknown as Queryable;
  const use = new PreviousUse(
    database,
    { monotonicMs: () => clock.ms },
    { warn: (fields: unknown) => void warned.push(fields) },
  );
  return { clock, written, warned, use };
}

const hash = (index: number) => hashGatewayKey(`secret ${index}`);

describe('the last use of a previous secret', () => {
  it('is written every ten seconds at most, however often it is used', () => {
    const { clock, written, use } = start();
    for (let index = 0; index < 1_000; index += 1) use.note([hash(1)]);
    clock.ms = 9_999;
    use.note([hash(1)]);
    assert.deepEqual(written, [1]);
    clock.ms = 10_000;
    use.note([hash(1), hash(2)]);
    assert.deepEqual(written, [1, 2]);
  });

  it('takes no more memory for 100,000 secrets than for ten thousand', () => {
    const { written, use } = start();
    for (let index = 0; index < 100_000; index += 1) use.note([hash(index)]);
    assert.equal(written.length, 100_000);
    use.note([hash(99_999)]);
    use.note([hash(0)]);
    assert.equal(written.length, 100_001);
  });

  it('costs the request nothing where it cannot be written', async () => {
    const { warned, use } = start({ fails: true });
    use.note([hash(1)]);
    await Promise.resolve();
    await Promise.resolve();
    assert.equal(warned.length, 1);
  });
});
