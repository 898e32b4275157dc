import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { trial } from './credit-trials.ts';
import { type Fleet, startFleet } from './gateway-fleet.ts';
import { nothingTold, race } from './revocation-races.ts';

// Short forms of the drills revocation.ts, credit.ts and rate.ts.

describe('two gateway processes', () => {
  let fleet: Fleet;
  before(async () => {
    fleet = await startFleet();
  });
  after(() => fleet?.[Symbol.asyncDispose]());

  it('401 for every request that begins after the DELETE of its key was answered', async () => {
    const told = nothingTold();
    for (let number = 0; number < 30; number += 1) await race(fleet, told, number);
    assert.equal(told.races, 30);
    assert.ok(told.served > 0 && told.refused >= 30 * 4);
  });

  it('402 or 429 for what a key’s limit does not cover, of 200 requests at once, and 200 for the rest', async () => {
    for (let number = 0; number < 3; number += 1) await trial(fleet);
  });
});
