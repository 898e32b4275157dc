import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Breaker } from './breaker.ts';
import type { Failure } from './retry.ts';
import { SharedBreaker } from './shared-breaker.ts';

const status = (code: number, retryAfterMs?: number): Failure => ({
  kind: 'error_status',
  status: code,
  retryAfterMs,
});
const UNREACHABLE: Failure = { kind: 'unreachable' };
const BROKEN: Failure = { kind: 'broken' };

/** The breaker for all, beside the own breakers of organisations, which are named by letters. */
function start() {
  const shared = new SharedBreaker();
  const own = new Map<string, Breaker>();
  const ownOf = (organizationId: string) => {
    const breaker = own.get(organizationId) ?? new Breaker();
    own.set(organizationId, breaker);
    return breaker;
  };
  return {
    shared,
    fail(organizationId: string, failure: Failure, nowMs = 0, wasProbe = false) {
      const breaker = ownOf(organizationId);
      breaker.fail(failure, nowMs, nowMs, wasProbe);
      return shared.fail(failure, { organizationId, opening: breaker.opening, sentMs: nowMs, nowMs });
    },
    succeed(organizationId: string, nowMs = 0) {
      const breaker = ownOf(organizationId);
      breaker.succeed(nowMs, nowMs);
      return shared.succeed({ organizationId, opening: breaker.opening, sentMs: nowMs, nowMs });
    },
  };
}

/** How long it is open for all after these failures, in ms; undefined while it is closed. */
function openAfter(failures: readonly (readonly [organizationId: string, failure: Failure])[]) {
  const { shared, fail } = start();
  for (const [organizationId, failure] of failures) fail(organizationId, failure);
  return shared.opening?.untilMs;
}

// For how long it is open for all after one, and after a hundred, of one organisation; and after those of two.
const EVIDENCE: readonly {
  readonly failure: Failure;
  readonly ofOne?: number;
  /** The open state for one of each of two organisations. */
  readonly ofTwo?: number;
  /** The open state for five of one and one of another. */
  readonly ofFiveAndOne?: number;
}[] = [
  { failure: UNREACHABLE, ofOne: 1_000, ofTwo: 1_000, ofFiveAndOne: 1_000 },
  { failure: status(401), ofOne: 1_000, ofTwo: 300_000, ofFiveAndOne: 300_000 },
  { failure: status(402), ofTwo: 300_000, ofFiveAndOne: 300_000 },
  { failure: status(403), ofTwo: 300_000, ofFiveAndOne: 300_000 },
  { failure: status(429), ofTwo: 1_000, ofFiveAndOne: 1_000 },
  { failure: status(429, 120_000), ofTwo: 120_000, ofFiveAndOne: 120_000 },
  { failure: status(503, 7_000), ofTwo: 7_000, ofFiveAndOne: 7_000 },
  { failure: { kind: 'disconnected' }, ofTwo: 1_000, ofFiveAndOne: 1_000 },
  { failure: status(408), ofFiveAndOne: 1_000 },
  { failure: status(500), ofFiveAndOne: 1_000 },
  { failure: status(529), ofFiveAndOne: 1_000 },
  { failure: { kind: 'timed_out' }, ofFiveAndOne: 1_000 },
  { failure: BROKEN, ofFiveAndOne: 1_000 },
  { failure: { kind: 'error_event' }, ofFiveAndOne: 1_000 },
];

describe('a breaker for all organisations', () => {
  for (const { failure, ofOne, ofTwo, ofFiveAndOne } of EVIDENCE) {
    const name = failure.kind === 'error_status' ? JSON.stringify(failure) : failure.kind;
    const times = (count: number, organizationId: string) =>
      Array.from({ length: count }, () => [organizationId, failure] as const);

    it(`${ofOne === undefined ? 'stays closed' : 'opens'} for ${name} of one organisation`, () => {
      assert.equal(openAfter(times(1, 'a')), ofOne);
      assert.equal(openAfter(times(100, 'a')), ofOne);
    });

    it(`opens for ${name} of two`, () => {
      assert.equal(openAfter([...times(1, 'a'), ...times(1, 'b')]), ofTwo);
      assert.equal(openAfter([...times(5, 'a'), ...times(1, 'b')]), ofFiveAndOne);
      assert.equal(openAfter([...times(1, 'b'), ...times(5, 'a')]), ofFiveAndOne);
    });
  }

  it('is open as long as for both of two organisations that met the same, and asks as the provider did', () => {
    const { shared, fail } = start();
    assert.equal(fail('a', status(429, 120_000)), undefined);
    assert.equal(fail('b', status(429, 20_000), 10_000), 'opened');
    assert.deepEqual(shared.opening, { untilMs: 30_000, isStated: true, reason: 'answered 429' });
    fail('c', status(429, 60_000), 11_000);
    assert.equal(shared.opening?.untilMs, 71_000);
  });

  it('stays closed where two organisations met something else each, or not at the same time', () => {
    const { shared, fail } = start();
    fail('a', status(429, 10_000));
    fail('b', status(403));
    fail('c', status(429, 10_000), 10_000);
    assert.equal(shared.opening, undefined);
  });

  it('only waits as long as the provider said where it said so to both', () => {
    const { shared, fail } = start();
    fail('a', status(429, 20_000));
    fail('b', status(429));
    assert.deepEqual(shared.opening, { untilMs: 1_000, isStated: false, reason: 'answered 429' });
  });

  it('opens when half fail, also without the organisation that failed most', () => {
    const { shared, fail, succeed } = start();
    for (let n = 0; n < 50; n += 1) {
      fail('a', BROKEN, n);
      if (n % 4 === 0) fail('b', BROKEN, n);
      succeed('c', n);
      succeed('b', n);
    }
    assert.equal(shared.opening, undefined);
    for (let n = 50; n < 150; n += 1) {
      fail('b', BROKEN, n);
      if (n % 3 === 0) succeed('c', n);
    }
    assert.ok(shared.opening);
  });

  it('stays closed when another succeeds among the failures of one', () => {
    const { shared, fail, succeed } = start();
    for (let n = 0; n < 1_000; n += 1) {
      fail('a', BROKEN, n);
      if (n % 3 === 0) succeed('b', n);
    }
    fail('b', BROKEN, 1_000);
    succeed('b', 1_001);
    assert.equal(shared.opening, undefined);
  });

  it("believes one organisation's 401 again after five minutes, should another have shown that it is wrong", () => {
    const { shared, fail, succeed } = start();
    assert.equal(fail('a', status(401)), 'opened');
    assert.equal(succeed('b', 1_000), 'closed');
    for (let nowMs = 2_000; nowMs < 300_000; nowMs += 1_000) {
      succeed('a', nowMs);
      assert.equal(fail('a', status(401), nowMs + 500), undefined);
    }
    assert.ok(!shared.isForgettable(299_000));
    succeed('a', 300_500);
    assert.equal(fail('a', status(401), 301_000), 'opened');
  });
});

describe('a breaker that is half open for all', () => {
  function halfOpen() {
    const started = start();
    started.fail('a', UNREACHABLE);
    assert.equal(started.shared.take('a', 999), undefined);
    return started;
  }

  it('lets one request of each of two organisations through', () => {
    const { shared } = halfOpen();
    assert.equal(shared.take('a', 1_000), 'probe');
    assert.equal(shared.take('a', 1_000), undefined);
    assert.equal(shared.readyAtMs('a'), Number.POSITIVE_INFINITY);
    assert.equal(shared.readyAtMs('b'), 1_000);
    assert.equal(shared.take('b', 1_000), 'probe');
    assert.equal(shared.take('c', 1_000), undefined);
    shared.endProbe('a');
    assert.equal(shared.take('c', 1_000), 'probe');
  });

  it('opens again when requests of two organisations have failed, for twice as long each time', () => {
    const { shared, fail } = halfOpen();
    let nowMs = 1_000;
    const waits: number[] = [];
    for (let n = 0; n < 7; n += 1) {
      for (let m = 0; m < 9; m += 1) assert.equal(fail('a', BROKEN, nowMs, true), undefined);
      assert.equal(fail('b', status(500), nowMs, true), 'opened');
      const { untilMs } = shared.opening ?? assert.fail();
      waits.push(untilMs - nowMs);
      nowMs = untilMs;
    }
    assert.deepEqual(waits, [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  });

  it('opens again at once when no connection can be made', () => {
    const { fail, shared } = halfOpen();
    assert.equal(fail('a', UNREACHABLE, 1_000, true), 'opened');
    assert.equal(shared.opening?.untilMs, 3_000);
  });

  it('closes with the first success, and has forgotten what was before', () => {
    const { fail, succeed, shared } = halfOpen();
    fail('a', BROKEN, 1_000, true);
    assert.equal(succeed('b', 1_100), 'closed');
    assert.equal(fail('b', UNREACHABLE, 1_200), 'opened');
    assert.equal(shared.opening?.untilMs, 2_200);
  });

  it('is not moved by requests that were under way when it opened', () => {
    const { shared } = halfOpen();
    const observation = { organizationId: 'b', opening: undefined, sentMs: -1, nowMs: 1_500 };
    assert.equal(shared.succeed(observation), undefined);
    assert.equal(shared.fail(UNREACHABLE, observation), undefined);
    assert.equal(shared.opening?.untilMs, 1_000);
  });
});

it('a breaker for all remembers sixteen organisations, the last that failed', () => {
  const { shared, fail } = start();
  for (let n = 0; n < 1_000; n += 1) fail(`${n}`, status(400 + n, 200_000));
  assert.equal(shared.ofSome?.organizations, 16);
});
