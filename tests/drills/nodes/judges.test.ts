import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { COST_MICRO_PKR } from '../gateway-fleet.ts';
import { NotAnswered } from './balanced-client.ts';
import { assertNoInternalErrors } from './judge.ts';
import { judgeHeadroom, judgeRate, judgeRevocation, judgeSpending } from './limit-judges.ts';
import { judgeMoney, MAX_HELD_MICRO_PKR, type Money } from './money.ts';
import { type ModelRequest, type Outcome, outcomeOf } from './requests.ts';
import { unlessAway } from './revoked-keys.ts';
import { failuresOf } from './troubles.ts';

// A drill that cannot fail proves nothing: each judge gets what is right, and then the same with one thing broken.

const COST = BigInt(COST_MICRO_PKR);
const STATUSES: Readonly<Record<Outcome, number | undefined>> = {
  served: 200,
  refused: 402,
  'not answered': 502,
  'cut off': 200,
  'not read': undefined,
};

const request = (number: number, outcome: Outcome, more: Partial<ModelRequest> = {}): ModelRequest => ({
  number,
  outcome,
  status: STATUSES[outcome],
  requestId: outcome === 'not answered' || outcome === 'not read' ? undefined : `id-${number}`,
  isStream: false,
  sentAt: number,
  endedAt: number + 1,
  ...more,
});

/** Two served; one refused; one lost in a killed gateway; one cut off and billed by its hold; one that nginx did not read. */
function money(more: Partial<Money> = {}): Money {
  return {
    requests: [
      request(1, 'served'),
      request(2, 'served'),
      request(3, 'refused'),
      request(4, 'not answered'),
      request(5, 'cut off'),
      request(6, 'not read'),
    ],
    bill: new Map([1, 2, 4, 5].map((number) => [number, 1])),
    settlements: [
      { id: 'id-1', costMicroPkr: COST },
      { id: 'id-2', costMicroPkr: COST },
      { id: 'id-5', costMicroPkr: MAX_HELD_MICRO_PKR },
    ],
    rows: new Map(['id-1', 'id-2', 'id-3', 'id-5'].map((id) => [id, 1])),
    spent: 2n * COST + MAX_HELD_MICRO_PKR,
    settled: 2n * COST + MAX_HELD_MICRO_PKR,
    ...more,
  };
}

const billed = (...entries: readonly (readonly [number, number])[]) => new Map([...money().bill, ...entries]);
const without = (number: number) => new Map([...money().bill].filter(([one]) => one !== number));
const replaced = (one: ModelRequest) =>
  money().requests.map((other) => (other.number === one.number ? one : other));

describe('the judge of the money', () => {
  it('finds nothing where everything matches, and counts', () => {
    assert.deepEqual(judgeMoney(money()), { served: 2, billed: 4, settled: 3, lost: 1 });
  });

  const broken: readonly (readonly [what: string, more: Partial<Money>, message: RegExp])[] = [
    [
      'a settlement that is lost',
      { settlements: money().settlements.slice(1) },
      /^request id-1 was served and is not settled$/,
    ],
    [
      'a settlement that is doubled',
      { settlements: [...money().settlements, { id: 'id-2', costMicroPkr: COST }] },
      /^a request is settled twice/,
    ],
    [
      'a settlement of nothing that the provider got',
      { bill: new Map([1, 2].map((number) => [number, 1])) },
      /^3 are settled, and 2 were billed$/,
    ],
    [
      'a settlement at another cost',
      {
        settlements: money().settlements.map((one) =>
          one.id === 'id-1' ? { ...one, costMicroPkr: COST + 1n } : one,
        ),
      },
      /^the cost of the served request id-1/,
    ],
    [
      'a settlement above its hold',
      {
        settlements: money().settlements.map((one) =>
          one.id === 'id-5' ? { ...one, costMicroPkr: MAX_HELD_MICRO_PKR + 1n } : one,
        ),
      },
      /^request id-5 costs 6301, more than its hold$/,
    ],
    [
      'a sum that is not that of the settlements',
      { spent: 3n * COST },
      /^what is spent is not what was settled/,
    ],
    [
      'a request that was sent to the provider twice',
      { bill: billed([2, 2]) },
      /^request 2 was sent .* 2 times$/,
    ],
    [
      'an answer that the provider did not give',
      { bill: without(2) },
      /^request 2 was served and is not billed/,
    ],
    [
      'a request of a closed connection that was read',
      { bill: billed([6, 1]) },
      /^request 6 was not read, and/,
    ],
    [
      'a served request that costs nobody anything',
      { requests: replaced(request(5, 'refused')), bill: billed([3, 1]) },
      /^2 were billed and not settled, and 1 got no answer$/,
    ],
    [
      'two answers with one id',
      { requests: replaced(request(2, 'served', { requestId: 'id-1' })) },
      /^two answers have one id/,
    ],
    [
      'an internal error that a caller saw',
      { requests: replaced(request(3, 'refused', { status: 500 })) },
      /^request 3 \(id-3\) was answered with 500$/,
    ],
    [
      'a row that is missing in the request log',
      { rows: new Map([...money().rows].slice(1)) },
      /^request id-1 is settled and has no row in the request log$/,
    ],
    [
      'a row that is doubled in the request log',
      { rows: new Map([...money().rows, ['id-3', 2]]) },
      /^request id-3 has 2 rows in the request log$/m,
    ],
  ];
  for (const [what, more, message] of broken)
    it(`names ${what}`, () => assert.throws(() => judgeMoney(money(more)), { message }));
});

describe('the judge of revocations', () => {
  const refused = request(20, 'refused', { status: 401 });

  it('counts what was refused after the revocation, and lets what began before it be served', () => {
    assert.equal(judgeRevocation([request(9, 'served'), refused, request(21, 'not answered')], 10), 1);
  });

  it('names a revoked key that was served, from the moment of the answer on', () => {
    for (const number of [10, 30])
      assert.throws(() => judgeRevocation([refused, request(number, 'served')], 10), {
        message: /^1 requests began after the revocation was acknowledged, and were served/,
      });
  });
});

describe('the judge of rates', () => {
  const WINDOW_MS = 60_000;
  const LIMIT = 60;
  const at = (sentAt: number, outcome: Outcome = 'served') =>
    request(1, outcome, { sentAt, endedAt: sentAt + 5 });
  const evenly = (count: number, from = 0) =>
    Array.from({ length: count }, (_, index) => at(from + index * 990));

  it('counts the most within any window, and not what was refused', () => {
    assert.equal(judgeRate([...evenly(LIMIT), at(30_000, 'refused')], LIMIT, WINDOW_MS), LIMIT);
    // The next may be served as soon as the first leaves the window.
    assert.equal(judgeRate([...evenly(LIMIT), at(60_000)], LIMIT, WINDOW_MS), LIMIT);
    // One that may have counted before the window or after it is in none.
    assert.equal(judgeRate([...evenly(LIMIT), at(59_996)], LIMIT, WINDOW_MS), LIMIT);
  });

  it('names 61 in 60 seconds, wherever the window begins', () => {
    for (const from of [0, 7_777])
      assert.throws(() => judgeRate([at(from - 1_000), ...evenly(LIMIT + 1, from)], LIMIT, WINDOW_MS), {
        message: /^61 were served within 60 s, and 60 are allowed/,
      });
  });
});

describe('the judge of credit', () => {
  const given = { spent: 70n, held: 30n };

  it('accepts what is spent and held up to the limit', () => {
    judgeSpending(given, 100n, { served: 20, worth: 20 });
    judgeSpending(given, 100n, { served: 49 });
  });

  it('names one request past what the limit covers, and one micro-PKR past it', () => {
    assert.throws(() => judgeSpending(given, 100n, { served: 21, worth: 20 }), {
      message: /^21 were served, and the limit covers 20/,
    });
    for (const more of [{ spent: 71n }, { held: 31n }])
      assert.throws(() => judgeSpending({ ...given, ...more }, 100n, { served: 20, worth: 20 }), {
        message: /^past the limit: /,
      });
    assert.throws(() => judgeSpending(undefined, 100n, { served: 0 }), /does not know/);
  });
});

describe('the judge of headroom', () => {
  const given = { most: 1_000n, budget: 1_000n, noted: 9n, entries: 9n, accepted: 8, unknown: 1 };

  it('accepts limits up to the budget, and an entry of each change', () => {
    judgeHeadroom(given);
    judgeHeadroom({ ...given, entries: 8n });
  });

  for (const [what, more, message] of [
    ['limits past the budget', { most: 1_001n }, /^the limits were 1001 together/],
    ['a change without its entry', { entries: 7n }, /^8 were acknowledged, and 7 are in the log/],
    ['an entry without its change', { entries: 10n }, /^10 entries of 8 changes/],
    ['sums that were not taken', { noted: 0n }, /^8 were acknowledged, and 0 sums/],
  ] as const)
    it(`names ${what}`, () => assert.throws(() => judgeHeadroom({ ...given, ...more }), { message }));
});

describe('what the logs of the nodes say', () => {
  it('names an internal error of the API, of the gateway, and a request that was answered with 500', () => {
    const good = [{ msg: 'request', status: 503 }, { event: 'rates.redis_lost' }, { msg: 'ready' }];
    assertNoInternalErrors(good);
    for (const line of [
      { event: 'http.request_failed' },
      { event: 'request.internal_error' },
      { msg: 'request', status: 500 },
    ])
      assert.throws(
        () => assertNoInternalErrors([...good, line]),
        /^AssertionError.*a node had an internal error/,
      );
  });
});

describe('what callers saw', () => {
  const ofNode = { 'x-request-id': 'id' };

  it('is told apart: of a node or of the balancer, whole or not', () => {
    assert.equal(outcomeOf({ statusCode: 502, headers: {} }, '', false), 'not answered');
    assert.equal(outcomeOf({ statusCode: 502, headers: ofNode }, '', false), 'refused');
    assert.equal(outcomeOf({ statusCode: 200, headers: ofNode }, '', false), 'served');
    assert.equal(outcomeOf({ statusCode: 200, headers: ofNode }, 'data: {}\n\n', true), 'cut off');
    assert.equal(outcomeOf({ statusCode: 200, headers: ofNode }, 'data: [DONE]\n\n', true), 'served');
  });

  it('belongs to the last trouble that had begun, and to none otherwise', () => {
    const troubles = [
      { what: 'first', fromMs: 10, toMs: 20 },
      { what: 'second', fromMs: 15, toMs: 40 },
    ];
    const failed = [12, 18, 60].map((number) => request(number, 'cut off'));
    const requests = [...failed, request(13, 'served'), request(61, 'not read')];
    assert.deepEqual(
      failuresOf(troubles, requests).map(({ what, failed }) => [what, failed.map(({ number }) => number)]),
      [
        ['first', [12]],
        ['second', [18]],
        ['no trouble', [60]],
      ],
    );
  });

  it('is explained by a node that is away only where it is a 503 or no answer', () => {
    const answered = (status: number) =>
      new assert.AssertionError({ message: `POST /api/keys answered ${status}: {}` });
    for (const error of [
      new NotAnswered('502'),
      Object.assign(new Error('reset'), { code: 'ECONNRESET' }),
      answered(503),
    ])
      assert.equal(unlessAway(error), undefined);
    for (const error of [answered(500), answered(403), new Error('other')])
      assert.throws(() => unlessAway(error), error);
  });
});
