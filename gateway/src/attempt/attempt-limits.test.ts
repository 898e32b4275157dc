import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createManualTime } from '../testing/manual-time.ts';
import { type AttemptLimit, MAX_LATE_USAGE_MS, RunningLimits } from './attempt-limits.ts';
import type { AttemptState } from './attempt-state.ts';
import { MAX_HELD_MS } from './held-stream.ts';
import { READ_ON_MS } from './read-on.ts';

const TIMEOUT_MS = 600_000;

describe('the time limits of an attempt', () => {
  const begun = (contentTimeoutMs?: number) => {
    const time = createManualTime();
    const over: AttemptLimit[] = [];
    const limits = new RunningLimits(time.timers, { timeoutMs: TIMEOUT_MS, contentTimeoutMs }, (limit) =>
      over.push(limit),
    );
    const through = (...states: AttemptState[]) => {
      for (const state of states) limits.enter(state);
    };
    through('connecting');
    return { time, over, through };
  };

  for (const [title, contentTimeoutMs, states, ms, ended] of [
    ['the route, whatever comes', undefined, ['waiting', 'streaming'], TIMEOUT_MS, 'time_limit'],
    ['the first content, where the route says so', 5, ['waiting', 'holding'], 5, 'content_limit'],
    [
      'a stream that is kept back, where it does not',
      undefined,
      ['waiting', 'holding'],
      MAX_HELD_MS,
      'held_limit',
    ],
    ['a usage after the end mark', 5, ['streaming', 'awaiting_usage'], MAX_LATE_USAGE_MS, 'usage_limit'],
    ['an answer that is read on', undefined, ['waiting', 'reading_on'], READ_ON_MS, 'read_on_limit'],
  ] as const) {
    it(`are those of ${title}`, () => {
      const { time, over, through } = begun(contentTimeoutMs);
      through(...states);
      time.fire(ms);
      assert.deepEqual(over, [ended]);
    });
  }

  it('do not run where they mean nothing, and none once it is settled', () => {
    const { time, through } = begun(5);
    through('waiting', 'collecting');
    assert.equal(time.pending, 2);
    through('inspecting');
    assert.equal(time.pending, 0);
    const { time: other, through: onwards } = begun();
    onwards('waiting', 'holding', 'streaming', 'awaiting_usage');
    assert.equal(other.pending, 2);
    onwards('settled');
    assert.equal(other.pending, 0);
  });
});
