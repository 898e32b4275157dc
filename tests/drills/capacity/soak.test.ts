import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KEPT_TABLES } from './kept-rows.ts';
import { soak } from './soak.ts';

// The short form of the drill soak.ts: seconds say nothing about growth, so only what was served and kept is checked.

describe('the soak', () => {
  it('serves its mix, samples every process and table, and loses nothing', async () => {
    const run = await soak({
      minutes: 1 / 30,
      cores: 0.7,
      rate: 20,
      seed: 1,
      log: () => undefined,
      sampleMs: 500,
      ramp: { steps: [20], stepMs: 500 },
    });
    const last = run.samples.at(-1);
    assert.deepEqual(run.failures, []);
    assert.equal(
      run.samples.reduce((sum, { wrong }) => sum + wrong, 0),
      0,
    );
    assert.deepEqual(Object.keys(last?.processes ?? {}).sort(), ['api', 'engine', 'gateway', 'postgres']);
    assert.deepEqual(Object.keys(last?.heaps ?? {}).sort(), ['api', 'gateway-1']);
    assert.deepEqual(Object.keys(last?.tables ?? {}).sort(), KEPT_TABLES.map(({ table }) => table).sort());
    assert.ok(run.sums.settled > 0);
    assert.equal(run.sums.settled, run.sums.logged);
    assert.equal(run.sums.spentMicroPkr, run.sums.settledMicroPkr);
    assert.equal(run.sums.heldMicroPkr, '0');
  });
});
