import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { median, type Round, ratiosOf, rowOf } from './attack-report.ts';
import { type Felt, nothingFelt } from './attack-victim.ts';

/** A hundred requests to each, of which the two slowest took so long. */
function felt(apiMs: number, gatewayMs: number): Felt {
  const all = nothingFelt();
  const times = (slowest: number) => Array.from({ length: 100 }, (_, n) => (n < 2 ? slowest : 1));
  all.apiMs.push(...times(apiMs));
  all.gatewayMs.push(...times(gatewayMs));
  return all;
}

const round = (api: number, gateway: number, quiet: number): Round => ({
  felt: felt(api, gateway),
  quiet: felt(quiet, quiet),
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

  it('says no where one of the two is slower than three times the quiet, of the rounds or of all, or a request fails', () => {
    const row = (rounds: readonly Round[], quietMs = 10) =>
      rowOf(
        { name: 'attack', rounds, processors: new Map(), residentMb: new Map(), journalMb: 0 },
        felt(quietMs, quietMs),
      );
    assert.match(
      row([round(30, 20, 10)]),
      /\| attack \| 3\.0; 3\.0 \(3\.0 to 3\.0\) \| 2\.0; 2\.0 [^|]+\| yes \|/,
    );
    assert.match(
      row([round(20, 31, 10)]),
      /\| attack \| 2\.0; 2\.0 \(2\.0 to 2\.0\) \| 3\.1; 3\.1 [^|]+\| NO \|/,
    );
    assert.match(row([round(30, 30, 10)], 9), /\| attack \| 3\.3; 3\.0 [^|]+\| 3\.3; 3\.0 [^|]+\| NO \|/);
    assert.match(row([round(31, 31, 10)], 11), /\| attack \| 2\.8; 3\.1 [^|]+\| 2\.8; 3\.1 [^|]+\| NO \|/);
    const failing = round(10, 10, 10);
    failing.felt.failures.set('401', 1);
    assert.match(row([failing]), /\| 1\.0; 1\.0 [^|]+\| NO \|.+\| 1 x 401 of 200 \|/);
  });
});
