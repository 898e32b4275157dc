import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestApi, type TestApi } from '@gatehouse/control-plane/testing';
import { raceLimitsAndSettlements, raceUpdatesAndRevocations } from './key-races.ts';

describe('races about a key', () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api[Symbol.asyncDispose]());

  it('leave no limit below what is spent', async () => {
    const { rounds, accepted, refused } = await raceLimitsAndSettlements(api, 100, 1);
    assert.equal(accepted + refused, rounds);
  });

  it('leave no update in the log after the revocation', async () => {
    const { rounds, updated, gone } = await raceUpdatesAndRevocations(api, 50, 2);
    assert.equal(updated + gone, rounds);
  });
});
