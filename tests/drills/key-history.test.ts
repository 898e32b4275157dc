import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Call, checkHistory, type Entry } from './key-history.ts';

const BUDGET = 1_000_000_000n;

// A history that is right: two keys, a limit each, one refused for the other's sake, one gone.
const calls: readonly Call[] = [
  call(1, 'mint', 'a', null, 201),
  call(2, 'mint', 'b', null, 201),
  call(3, 'update', 'a', 600_000_000n, 200),
  call(4, 'update', 'b', 400_000_001n, 400, overBudget('600.00')),
  call(5, 'update', 'b', 400_000_000n, 200),
  call(6, 'revoke', 'a', null, 200),
  call(7, 'revoke', 'a', null, 404),
  call(8, 'update', 'b', 1_000_000_000n, 200),
];
const entries = entriesOf(calls.filter(({ status }) => status < 300));

function call(
  number: number,
  kind: Call['kind'],
  prefix: string,
  limitMicroPkr: bigint | null,
  status: number,
  error = '',
): Call {
  return {
    number,
    kind,
    prefix,
    limitMicroPkr,
    status,
    error,
    startedAt: number * 10,
    endedAt: number * 10 + 5,
  };
}

function entriesOf(successes: readonly Call[]): Entry[] {
  const actions = { mint: 'api_key.created', update: 'api_key.updated', revoke: 'api_key.revoked' };
  return successes.map(({ number, kind, prefix }) => ({ number, action: actions[kind], target: prefix }));
}

function overBudget(others: string): string {
  return `Credit limit cannot be above 400.00 PKR: the organisation's budget is 1000.00 PKR, and the limits of its other keys take ${others} PKR.`;
}

const withCall = (number: number, change: Partial<Call>) =>
  calls.map((one) => (one.number === number ? { ...one, ...change } : one));

describe('checkHistory', () => {
  it('passes a history that is right', () => {
    assert.deepEqual(checkHistory(calls, entries, BUDGET), { changes: 6, refusals: 2, byBudget: 1 });
  });

  it('passes what can be explained only by another order than that of the answers', () => {
    // The refusal was under way when the key was revoked.
    const early = withCall(7, { startedAt: 55, endedAt: 61 });
    assert.doesNotThrow(() => checkHistory(early, entries, BUDGET));
  });

  for (const [what, given, log] of [
    ['an answer of 500', withCall(4, { status: 500 }), entries],
    ['a success without an entry', calls, entries.slice(0, -1)],
    ['an entry without a success', calls.slice(0, -1), entries],
    ['an entry of a refusal', calls, [...entries, { number: 4, action: 'api_key.updated', target: 'b' }]],
    ['two entries of one success', calls, [...entries, ...entries.slice(-1)]],
    [
      'an entry of another action',
      calls,
      entries.with(2, { number: 3, action: 'api_key.revoked', target: 'a' }),
    ],
    ['entries in an order that cannot be', calls, [...entries.slice(0, 4), ...entries.slice(4).reverse()]],
    ['limits beyond the budget', withCall(5, { limitMicroPkr: 400_000_001n }), entries],
    [
      'a change of a key that is revoked',
      withCall(8, { prefix: 'a' }),
      entriesOf(withCall(8, { prefix: 'a' }).filter(({ status }) => status < 300)),
    ],
    ['a refusal that names another figure', withCall(4, { error: overBudget('600.000001') }), entries],
    ['a refusal of what fits', withCall(4, { limitMicroPkr: 400_000_000n }), entries],
    ['a 404 for a key that is there', withCall(7, { prefix: 'b' }), entries],
    ['a 404 from before the key was gone', withCall(7, { startedAt: 56, endedAt: 57 }), entries],
    ['a refusal by a rule that is none', withCall(4, { status: 409 }), entries],
  ] as const) {
    it(`does not pass ${what}`, () => {
      assert.throws(() => checkHistory(given, log, BUDGET), assert.AssertionError);
    });
  }
});
