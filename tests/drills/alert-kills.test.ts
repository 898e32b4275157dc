import assert from 'node:assert/strict';
import { it } from 'node:test';
import { newSeed } from '@gatehouse/concurrency/testing';
import { killBetween } from './alert-kills.ts';

// A short form of the drill.

it('an alert arrives although every process was killed between its cause and its delivery', async (t) => {
  const seed = newSeed();
  t.diagnostic(`seed ${seed}`);
  const { broken, alerts, messages } = await killBetween({ cycles: 8, seed, log: () => {} });
  assert.deepEqual(broken, [], `seed ${seed}`);
  assert.equal(alerts, 16);
  assert.ok(messages >= alerts);
});
