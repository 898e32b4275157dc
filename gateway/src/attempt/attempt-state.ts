// One attempt at a provider, as a table: what it is doing, what can happen, and what follows. The table decides and does nothing; relay.ts
// does what it says.
//
//   connecting → waiting → streaming → settled               A stream goes to the caller as it comes, its end kept back.
//                        → holding → streaming → settled     The same where another attempt may follow: until its first content it is kept
//                                                            back.
//                        → collecting → inspecting → settled Anything else is read whole first, so that a provider that fails half-way
//                                                            becomes a clean error and not half an answer. Events under another content
//                                                            type are a stream all the same.
//   any of these → reading_on → settled                      The caller has left while the provider is at work: the rest is read for the
//                                                            usage that the caller pays for.
//                → giving_up → settled                       The same where the caller gets an error, because there is no room for the
//                                                            answer.
//
// The first effect that is an outcome settles the attempt, and nothing that comes later changes it.

export type AttemptState = (typeof ATTEMPT_STATES)[number];

export const ATTEMPT_STATES = [
  /** The provider cannot have seen the request. */
  'connecting',
  /** The provider may be at work; no head has come. */
  'waiting',
  /** An answer comes that is read whole. */
  'collecting',
  /** The same of an error: the provider will not do it. */
  'collecting_error',
  /** All of it has come and is read, in a reader thread if it is large. */
  'inspecting',
  'holding',
  'streaming',
  /** The stream's end mark has come before its usage. */
  'awaiting_usage',
  'reading_on',
  'giving_up',
  'settled',
] as const;

export type AttemptEvent = (typeof ATTEMPT_EVENTS)[number];

export const ATTEMPT_EVENTS = [
  /** The request is about to be put on the wire. */
  'sent',
  ...(['stream_head', 'held_head', 'whole_head', 'error_head', 'unusable_head'] as const),
  /** Bytes, and nothing new in them. */
  'part',
  /** The stream goes to the caller now: its first content has come, or too much is kept back. */
  'ready',
  /** The end mark without a usage. */
  'end_mark',
  /** The last that is wanted of the answer. */
  'last',
  /** The end of a stream before its answer's. */
  'cut',
  'too_large',
  /** The provider has ended the answer. */
  'end',
  /** The connection failed, or what came over it is no answer. */
  'failure',
  /** All that had come of an answer that is read on is read too. */
  'all_read',
  /** A time limit is over. Each runs in the states in which it means something. */
  ...(['time_limit', 'content_limit', 'held_limit', 'usage_limit', 'read_on_limit'] as const),
  /** The caller has left, and the rest of the answer may be read for its usage. */
  'caller_left',
  /** The caller has left, and there is nothing to learn, or no place for it. */
  'caller_gone',
  'stopping',
  'no_room',
  'inspected',
] as const;

export type AttemptEffect =
  /** The stream begins for the caller. */
  | 'begin'
  /** The bytes go to the caller. */
  | 'pass'
  /** All that was kept back goes to the caller. */
  | 'show'
  /** The bytes stay in memory, or are no longer there. */
  | 'count'
  /** All that came is read. */
  | 'inspect'
  /** The rest is read for its usage. */
  | 'read_on'
  /** Calls back with `all_read`. */
  | 'read_all'
  | AttemptEnd;

/** An outcome. */
export type AttemptEnd =
  /** A stream that has passed, but for its end. */
  | 'streamed'
  /** A stream that was kept back to its end. */
  | 'held'
  /** A whole answer, or what is wrong with it. */
  | 'answered'
  /** Nothing was sent: the caller gets the error. */
  | 'refused'
  /** A stream ends with the error: its provider broke it, or this gateway ends it. */
  | 'broken'
  | 'ended'
  /** The caller has left. */
  | 'left';

type Cell = readonly [AttemptState, ...AttemptEffect[]];
type Row = Partial<Record<AttemptEvent, Cell>>;

const REFUSED: Cell = ['settled', 'refused'];
const STREAMED: Cell = ['settled', 'streamed'];
const HELD: Cell = ['settled', 'held'];
const ENDED: Cell = ['settled', 'ended'];
const LEFT: Cell = ['settled', 'left'];
const READ_ON: Cell = ['reading_on', 'read_on'];
const GIVE_UP: Cell = ['giving_up', 'read_on'];

/** Ends what has not been sent yet. */
const REFUSING: Row = { failure: REFUSED, time_limit: REFUSED, content_limit: REFUSED, stopping: REFUSED };
const STREAM_HEADS = {
  stream_head: ['streaming', 'begin'],
  held_head: ['holding'],
} satisfies Row;
const HEADS: Row = {
  ...STREAM_HEADS,
  whole_head: ['collecting'],
  error_head: ['collecting_error'],
  unusable_head: REFUSED,
};

/** Heads, bytes and ends of an answer that is read on: none goes to the caller. */
function readingOn(state: 'reading_on' | 'giving_up', end: Cell): Row {
  return {
    ...{ stream_head: [state], held_head: [state], whole_head: [state], error_head: end, unusable_head: end },
    ...{ part: [state, 'count'], last: end, end: [state, 'read_all'], all_read: end },
    ...{ failure: end, time_limit: end, read_on_limit: end, stopping: end, no_room: end },
  };
}

const TABLE: Readonly<Record<AttemptState, Row>> = {
  connecting: { ...REFUSING, ...HEADS, sent: ['waiting'], no_room: REFUSED, caller_gone: LEFT },
  waiting: { ...REFUSING, ...HEADS, no_room: GIVE_UP, caller_left: READ_ON, caller_gone: LEFT },
  collecting: {
    ...REFUSING,
    ...STREAM_HEADS,
    ...{
      part: ['collecting', 'count'],
      too_large: GIVE_UP,
      end: ['inspecting', 'inspect'],
      no_room: GIVE_UP,
    },
    ...{ caller_left: READ_ON, caller_gone: LEFT },
  },
  collecting_error: {
    ...REFUSING,
    ...{ part: ['collecting_error', 'count'], end: ['inspecting', 'inspect'] },
    ...{ too_large: REFUSED, no_room: REFUSED, caller_gone: LEFT },
  },
  // What has come is delivered.
  inspecting: { inspected: ['settled', 'answered'] },
  holding: {
    ...REFUSING,
    ...{
      part: ['holding', 'count'],
      ready: ['streaming', 'begin', 'show'],
      held_limit: ['streaming', 'begin', 'show'],
    },
    ...{ last: HELD, end: HELD, no_room: GIVE_UP },
    ...{ caller_left: READ_ON, caller_gone: LEFT },
  },
  streaming: {
    ...{ part: ['streaming', 'pass'], end_mark: ['awaiting_usage', 'pass'] },
    ...{ last: ['settled', 'pass', 'streamed'], cut: ['settled', 'pass', 'broken'] },
    ...{ end: STREAMED, failure: ['settled', 'broken'], time_limit: ENDED, stopping: ENDED, no_room: ENDED },
    ...{ caller_left: READ_ON, caller_gone: LEFT },
  },
  // The answer is whole, whatever happens now. A caller that leaves had all of it but the end.
  awaiting_usage: {
    ...{
      part: ['awaiting_usage', 'pass'],
      end_mark: ['awaiting_usage', 'pass'],
      last: ['settled', 'pass', 'streamed'],
      // Its last words were an error.
      cut: ['settled', 'pass', 'broken'],
    },
    ...{ end: STREAMED, failure: STREAMED, usage_limit: STREAMED, time_limit: STREAMED },
    ...{ stopping: STREAMED, no_room: STREAMED },
  },
  reading_on: readingOn('reading_on', LEFT),
  giving_up: readingOn('giving_up', REFUSED),
  settled: {},
};

/** The state that follows, and what is to be done, in order. */
export interface Follow {
  readonly state: AttemptState;
  readonly effects: readonly AttemptEffect[];
}

const FOLLOWS = new Map(
  ATTEMPT_STATES.map((state) => [
    state,
    new Map<string, Follow>(
      Object.entries(TABLE[state]).map(([event, [after, ...effects]]) => [event, { state: after, effects }]),
    ),
  ]),
);

/** Undefined where the event changes nothing: it came too late, or means nothing in the state. */
export function next(state: AttemptState, event: AttemptEvent): Follow | undefined {
  return FOLLOWS.get(state)?.get(event);
}
