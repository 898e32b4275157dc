import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Account, account } from './account.ts';
import { costOf } from './bill.ts';
import type { Books, LoggedRow, Settled } from './books.ts';
import type { Sent } from './callers.ts';

const KEY = 'key';

const call = (request: number, more: Partial<Sent> = {}): Sent => ({
  request,
  kind: 'json',
  gateway: 0,
  sentAtMs: request,
  endedAtMs: request + 1,
  status: 200,
  id: `id-${request}`,
  isWhole: true,
  hasLeft: false,
  ...more,
});
const row = (request: number, more: Partial<LoggedRow> = {}): LoggedRow => ({
  request,
  id: `id-${request}`,
  status: 200,
  costMicroPkr: costOf(request),
  ending: 'completed',
  ...more,
});
const settled = (request: number, more: Partial<Settled> = {}): Settled => ({
  id: `id-${request}`,
  keyId: KEY,
  costMicroPkr: costOf(request),
  ...more,
});
const asked = (...requests: number[]) =>
  new Map(requests.map((request) => [request, { asked: 1, isDone: true }]));

/** A served request, one that its caller left, one that a kill interrupted, and one that was refused with 503. */
function given(books: Partial<Books> = {}, more: Partial<Account> = {}): Account {
  const spent = costOf(1) + costOf(2);
  return {
    sent: [
      call(1),
      call(2, { isWhole: false, hasLeft: true, problem: 'left' }),
      call(3, { isWhole: false, status: undefined, id: undefined, problem: 'broken: ECONNRESET' } as never),
      call(4, { status: 503 }),
    ],
    bill: asked(1, 2, 3),
    books: {
      rows: [row(1), row(2), row(4, { status: 503, costMicroPkr: 0n })],
      settlements: [settled(1), settled(2)],
      keys: [{ keyId: KEY, spent, held: 0n, unsettled: 0n }],
      holds: 0,
      ...books,
    },
    killedAtMs: [[3.5]],
    ...more,
  };
}

describe('the account of the kills', () => {
  it('finds nothing where everything matches, and counts', () => {
    const { broken, served, left, interrupted, unavailable, uncharged, settled: count } = account(given());
    assert.deepEqual(broken, []);
    assert.deepEqual([served, left, interrupted, unavailable, uncharged, count], [1, 1, 1, 1, 1, 2]);
  });

  it('expects no cost of a request that its caller left before the provider was asked', () => {
    const rows = [
      row(1),
      row(2, { status: 499, costMicroPkr: 0n }),
      row(4, { status: 503, costMicroPkr: 0n }),
    ];
    const keys = [{ keyId: KEY, spent: costOf(1), held: 0n, unsettled: 0n }];
    const books = { rows, settlements: [settled(1)], keys };
    assert.deepEqual(account(given(books, { bill: asked(1, 3) })).broken, []);
    assert.match(account(given(books)).broken.join(), /request 2 .*costs 0, and the provider's bill is/);
  });

  const changed = { keys: [{ keyId: KEY, spent: 1n, held: 0n, unsettled: 0n }] };
  const held = { keys: [{ keyId: KEY, spent: costOf(1) + costOf(2), held: 5n, unsettled: 0n }] };
  for (const [what, wrong, expected] of [
    ['an answer without a row', given({ rows: [row(2)] }), /request 1 .*the request log lacks it/],
    ['a row without a settlement', given({ settlements: [settled(2)] }), /id-1 costs \d+ and is not settled/],
    ['two rows', given({ rows: [row(1), row(1), row(2)] }), /2 rows in the request log/],
    ['two settlements', given({ settlements: [settled(1), settled(1), settled(2)] }), /3 settlements of 2/],
    [
      'a settlement without a row',
      given({ settlements: [settled(1), settled(2), settled(9)] }),
      /id-9 is settled/,
    ],
    ['an answer that no provider gave', given({}, { bill: asked(2, 3) }), /request 1 .*was not asked/],
    ['another cost', given({ rows: [row(1, { costMicroPkr: 1n }), row(2)] }), /the provider's bill is/],
    ['a sum that does not match', given(changed), /key key has spent 1,/],
    ['credit that is still held', given(held), /still holds 5/],
    ['a hold', given({ holds: 1 }), /1 holds are left over/],
    ['a loss without a kill', given({}, { killedAtMs: [[]] }), /request 3 .*its gateway lived/],
    ['a 500', given({}, { sent: [call(1, { status: 500, problem: 'internal' }), call(2)] }), /answered 500/],
    ['a 500 that no caller saw', given({ rows: [row(1), row(2, { status: 500 })] }), /ended with 500/],
    [
      'a second call of the provider',
      given({}, { bill: new Map([[1, { asked: 2, isDone: true }]]) }),
      /asked 2 times/,
    ],
    [
      'a stream without its end',
      given({}, { sent: [call(1, { isWhole: false, problem: 'data: x' }), call(2)] }),
      /has no end/,
    ],
  ] as const) {
    it(`finds ${what}`, () => {
      assert.match(account(wrong).broken.join('\n'), expected);
    });
  }
});
