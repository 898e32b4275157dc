import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { broken } from './broken.ts';
import { liveMany } from './credit-history.ts';

// The short form of the drill credit-histories.ts.

describe('random histories of credit over two gateways', () => {
  it('never go past a limit, spend what was not recorded, or refuse what is free', async () => {
    const { failure, tally } = await liveMany({ histories: 20, firstSeed: 1 });
    assert.equal(failure, undefined);
    for (const [what, count] of Object.entries(tally)) assert.ok(count > 0, `${what} never happened`);
  });

  for (const [rule, sabotage, message] of [
    [
      'what is held counts against the limit',
      broken('judge_admission', 'key_unspent - in_key_held_micro_pkr', 'key_unspent'),
      / held of \d+ after an admission$|is spent of \d+$|are left for/,
    ],
    [
      'the surplus of a hold is free once the answer was delivered',
      broken('admit', 'ON h.request_id = f.id', 'ON false'),
      / is held for requests in flight that hold \d+$/,
    ],
    [
      'what is free is granted',
      broken(
        'judge_admission',
        'IF in_id_is_closed THEN',
        'in_least_micro_pkr := in_most_micro_pkr; IF in_id_is_closed THEN',
      ),
      /^refused, though .* are free for \d+$|are left for/,
    ],
    [
      'a cap is lowered only to what is free',
      broken(
        'judge_admission',
        'least(in_most_micro_pkr, key_free, organization_free)',
        'least(in_most_micro_pkr, greatest(key_free - 1, in_least_micro_pkr), organization_free)',
      ),
      /^the cap is lowered to \d+, though .* are free after it$/,
    ],
  ] as const) {
    it(`contradict the rules where this does not hold: ${rule}`, async () => {
      const { failure } = await liveMany({ histories: 100, firstSeed: 1, sabotage });
      assert.match(failure?.message ?? '', message);
    });
  }
});
