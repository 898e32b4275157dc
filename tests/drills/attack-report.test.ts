import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { median, type Round, ratiosOf, rowOf } from './attack-report.ts';
import { type Felt, nothingFelt } from './attack-victim.ts';

/** A hundred requests to each, of which the two slowest took so long. */
function felt(apiMs: number, gatewayMs: number, agentMs: number): Felt {
  const all = nothingFelt();
  const times = (slowest: number) => Array.from({ length: 100 }, (_, n) => (n < 2 ? slowest : 1));
  all.apiMs.push(...times(apiMs));
  all.gatewayMs.push(...times(gatewayMs));
  all.agentMs.push(...times(agentMs));
  return all;
}

const round = (api: number, gateway: number, quiet: number): Round => ({
  felt: felt(api, gateway, quiet),
  quiet: felt(quiet, quiet, quiet),
});

describe('the report of the attacks', () => {
  it('compares each round with the quiet of that round', () => {
    const rounds = [round(20, 40, 10), round(300, 100, 100), round(25, 20, 10)];
    assert.deepEqual(ratiosOf(rounds, 'apiMs'), [2, 2.5, 3]);
    assert.deepEqual(ratiosOf(rounds, 'gatewayMs'), [1, 2, 4]);
  });

  it('takes the median of the rounds, of an even number the mean of the two in the middle', () => {
    assert.equal(median([1, 2, 9]), 2);
    assert.equal(median([1, 2, 4, 9]), 3);
    assert.equal(median([5]), 5);
  });

  it('says no where any of the three is slower than three times the quiet and 50 ms, or a request fails', () => {
    const row = (apiMs: number, gatewayMs: number, agentMs: number, failures = 0) => {
      const one = { felt: felt(apiMs, gatewayMs, agentMs), quiet: felt(20, 20, 20) };
      if (failures > 0) one.felt.failures.set('401', failures);
      return rowOf(
        { name: 'attack', rounds: [one], processors: new Map(), residentMb: new Map(), journalMb: 0 },
        felt(10, 10, 100),
      );
    };
    assert.match(row(80, 40, 350), /\| attack \| 8\.0; 4\.0 \(4\.0 to 4\.0\) \| 4\.0; 2\.0 [^|]+\| yes \|/);
    assert.match(row(81, 40, 350), /\| 8\.1; 4\.0 [^|]+\| 4\.0; 2\.0 [^|]+\| NO \|/);
    assert.match(row(80, 81, 350), /\| NO \|/);
    assert.match(row(80, 80, 351), /\| NO \|/);
    assert.match(row(10, 10, 10, 1), /\| 1\.0; 0\.5 [^|]+\| NO \|.+\| 1 x 401 of 300 \|/);
  });
});
