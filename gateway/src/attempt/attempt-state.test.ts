import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomFrom } from '../journal/testing/random.ts';
import {
  ATTEMPT_EVENTS,
  ATTEMPT_STATES,
  type AttemptEffect,
  type AttemptEvent,
  type AttemptState,
  next,
} from './attempt-state.ts';

// Every state by every event: the state that follows, and what is done. A state that is left out changes nothing.
const GRID: Readonly<Record<AttemptEvent, string>> = {
  sent: 'connecting: waiting',
  stream_head:
    'connecting, waiting, collecting: streaming begin; reading_on: reading_on; giving_up: giving_up',
  held_head: 'connecting, waiting, collecting: holding; reading_on: reading_on; giving_up: giving_up',
  whole_head: 'connecting, waiting: collecting; reading_on: reading_on; giving_up: giving_up',
  error_head: 'connecting, waiting: collecting_error; reading_on: settled left; giving_up: settled refused',
  unusable_head: 'connecting, waiting, giving_up: settled refused; reading_on: settled left',
  part: 'collecting: collecting count; collecting_error: collecting_error count; holding: holding count; streaming: streaming pass; awaiting_usage: awaiting_usage pass; reading_on: reading_on count; giving_up: giving_up count',
  ready: 'holding: streaming begin show',
  end_mark: 'streaming, awaiting_usage: awaiting_usage pass',
  last: 'holding: settled held; streaming, awaiting_usage: settled pass streamed; reading_on: settled left; giving_up: settled refused',
  cut: 'streaming, awaiting_usage: settled pass broken',
  too_large: 'collecting: giving_up read_on; collecting_error: settled refused',
  end: 'collecting, collecting_error: inspecting inspect; holding: settled held; streaming, awaiting_usage: settled streamed; reading_on: reading_on read_all; giving_up: giving_up read_all',
  failure:
    'connecting, waiting, collecting, collecting_error, holding, giving_up: settled refused; streaming: settled broken; awaiting_usage: settled streamed; reading_on: settled left',
  all_read: 'reading_on: settled left; giving_up: settled refused',
  time_limit:
    'connecting, waiting, collecting, collecting_error, holding, giving_up: settled refused; streaming: settled ended; awaiting_usage: settled streamed; reading_on: settled left',
  content_limit: 'connecting, waiting, collecting, collecting_error, holding: settled refused',
  held_limit: 'holding: streaming begin show',
  usage_limit: 'awaiting_usage: settled streamed',
  read_on_limit: 'reading_on: settled left; giving_up: settled refused',
  caller_left: 'waiting, collecting, holding, streaming: reading_on read_on',
  caller_gone: 'connecting, waiting, collecting, collecting_error, holding, streaming: settled left',
  stopping:
    'connecting, waiting, collecting, collecting_error, holding, giving_up: settled refused; streaming: settled ended; awaiting_usage: settled streamed; reading_on: settled left',
  no_room:
    'connecting, collecting_error, giving_up: settled refused; waiting, collecting, holding: giving_up read_on; streaming: settled ended; awaiting_usage: settled streamed; reading_on: settled left',
  inspected: 'inspecting: settled answered',
};

const ENDS: ReadonlySet<AttemptEffect> = new Set([
  ...(['streamed', 'held', 'answered', 'refused', 'broken', 'ended', 'left'] as const),
]);
/** Ends that answer a caller who has been sent nothing yet, and those of a stream that has begun. */
const UNSENT: ReadonlySet<AttemptEffect> = new Set(['held', 'answered', 'refused']);
const SENT: ReadonlySet<AttemptEffect> = new Set(['streamed', 'broken', 'ended']);

describe('the table of an attempt', () => {
  for (const event of ATTEMPT_EVENTS) {
    it(`${event}, in every state`, () => {
      const expected = new Map(
        GRID[event].split('; ').flatMap((cell) => {
          const [states = '', follow = ''] = cell.split(': ');
          return states.split(', ').map((state) => [state, follow] as const);
        }),
      );
      for (const state of ATTEMPT_STATES) {
        const follow = next(state, event);
        const text = follow ? [follow.state, ...follow.effects].join(' ') : undefined;
        assert.equal(text, expected.get(state), `${state} and ${event}`);
      }
    });
  }

  it('is settled once, and nothing follows', () => {
    for (const event of ATTEMPT_EVENTS) assert.equal(next('settled', event), undefined, event);
    for (const state of ATTEMPT_STATES) {
      for (const event of ATTEMPT_EVENTS) {
        const { state: after, effects } = next(state, event) ?? { state, effects: [] };
        const ends = effects.filter((effect) => ENDS.has(effect));
        assert.equal(
          ends.length,
          after === 'settled' && state !== 'settled' ? 1 : 0,
          `${state} and ${event}`,
        );
        assert.equal(ends[0], ends.length === 1 ? effects.at(-1) : undefined, 'an end is the last effect');
      }
    }
  });

  it("ends by the provider's end, whatever has come of the answer", () => {
    // An answer that could go on for ever would hold its caller, its memory and its connection until the route's time limit.
    const ends: readonly AttemptEvent[] = ['last', 'cut', 'end', 'inspected', 'all_read'];
    const ended = (state: AttemptState): boolean =>
      state === 'settled' ||
      ends.some((event) => {
        const follow = next(state, event);
        return follow !== undefined && follow.state !== state && ended(follow.state);
      });
    for (const state of ATTEMPT_STATES.filter((one) => one !== 'connecting' && one !== 'waiting'))
      assert.ok(ended(state), state);
    for (const state of ['streaming', 'awaiting_usage'] as const) {
      for (const event of ['last', 'cut', 'end'] as const) assert.equal(next(state, event)?.state, 'settled');
    }
  });

  it('leads 20,000 random courses to one end, and tells a caller one story', () => {
    const random = randomFrom(20_261_128);
    for (let course = 0; course < 20_000; course += 1) {
      let state: AttemptState = 'connecting';
      const done: AttemptEffect[] = [];
      const events: AttemptEvent[] = [];
      for (let step = 0; step < 60 && state !== 'settled'; step += 1) {
        const event = ATTEMPT_EVENTS[Math.floor(random() * ATTEMPT_EVENTS.length)] as AttemptEvent;
        // A stream begins once, so no course has a second head.
        if (event.endsWith('_head') && done.includes('begin')) continue;
        const follow = next(state, event);
        if (!follow) continue;
        events.push(event);
        state = follow.state;
        done.push(...follow.effects);
      }
      const story = `${events.join(' ')}: ${done.join(' ')}`;
      const begun = done.indexOf('begin');
      assert.ok(done.lastIndexOf('begin') === begun, `two beginnings: ${story}`);
      for (const [at, effect] of done.entries()) {
        if (effect === 'pass' || effect === 'show' || SENT.has(effect))
          assert.ok(begun !== -1 && begun < at, story);
        if (UNSENT.has(effect)) assert.ok(begun === -1, `an answer after a beginning: ${story}`);
      }
      assert.ok(done.filter((effect) => effect === 'read_on').length <= 1, story);
      // The caller has left, or gets an error: nothing of what is read on reaches it.
      const readOn = done.indexOf('read_on');
      if (readOn !== -1) assert.ok(!done.slice(readOn).includes('pass'), story);
    }
  });
});
