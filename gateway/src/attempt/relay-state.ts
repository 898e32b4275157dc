import type { CallersStream } from '../formats/outgoing.ts';
import type { AnswerReading, StreamReading } from '../formats/protocol.ts';
import type { CollectedAnswer } from './collected-answer.ts';
import type { HeldStream } from './held-stream.ts';
import type { ReadOn } from './read-on.ts';
import { type Head, isProviderError } from './whole-answer.ts';

/** The state of the relay of an answer, and what it holds in it. */
export type RelayState =
  /** The request is on its way; no head has come. */
  | { readonly name: 'waiting' }
  /** An answer comes that is read whole before any of it is sent. */
  | { readonly name: 'collecting'; readonly head: Head; readonly answer: CollectedAnswer }
  /** The whole answer has come and is read, in a reader thread if it is large. */
  | { readonly name: 'inspecting'; readonly head: Head; readonly heldBytes: number }
  /** A stream is kept back until its first content: another attempt may follow. */
  | { readonly name: 'holding'; readonly head: Head; readonly held: HeldStream }
  /** A stream is passed on as it comes. */
  | { readonly name: 'streaming'; readonly head: Head; readonly reading: CallersStream }
  /** The caller does not get the answer; the rest is read for its usage alone. */
  | { readonly name: 'reading_on'; readonly readOn: ReadOn }
  /** The outcome is known. Nothing that comes later changes it. */
  | { readonly name: 'settled' };

type StateName = RelayState['name'];

const NEXT: Readonly<Record<StateName, readonly StateName[]>> = {
  waiting: ['collecting', 'holding', 'streaming', 'reading_on', 'settled'],
  // Events under another content type become a stream.
  collecting: ['holding', 'streaming', 'inspecting', 'reading_on', 'settled'],
  inspecting: ['settled'],
  holding: ['streaming', 'reading_on', 'settled'],
  streaming: ['reading_on', 'settled'],
  reading_on: ['settled'],
  settled: [],
};

/** The next state; throws where it cannot follow the one before. */
export function enter(before: RelayState, next: RelayState): RelayState {
  if (!NEXT[before.name].includes(next.name)) {
    throw new Error(`an answer cannot go from ${before.name} to ${next.name}`);
  }
  return next;
}

/** The provider's head, once it has come; undefined before, and after the outcome. */
export function headOf(state: RelayState): Head | undefined {
  if (state.name === 'reading_on') return state.readOn.head;
  return 'head' in state ? state.head : undefined;
}

/** The stream that is read, where the answer is one. */
export function readingOf(state: RelayState): StreamReading | undefined {
  if (state.name === 'reading_on') return state.readOn.stream;
  if (state.name === 'holding') return state.held.reading;
  return state.name === 'streaming' ? state.reading : undefined;
}

/** The bytes of the answer in memory, beside what waits for the caller. */
export function keptBytes(state: RelayState): number {
  if (state.name === 'collecting') return state.answer.blocks.length;
  if (state.name === 'holding') return state.held.keptBytes;
  if (state.name === 'inspecting') return state.heldBytes;
  if (state.name === 'reading_on') return state.readOn.keptBytes;
  return readingOf(state)?.keptBytes ?? 0;
}

/** The reading by which an answer that is given up is billed. */
export function readingSoFar(state: RelayState): {
  readonly reading: AnswerReading | undefined;
  readonly isStream: boolean;
  readonly isComplete: boolean;
} {
  const stream = readingOf(state);
  return {
    reading: state.name === 'reading_on' ? state.readOn.reading : stream,
    isStream: stream !== undefined,
    isComplete: stream?.isComplete ?? true,
  };
}

/** True if the rest of the answer may state its usage, so far unknown. */
export function hasMoreToSay(state: RelayState): boolean {
  const stream = readingOf(state);
  const isKnown = stream?.isComplete === true && stream.isUsageFinal;
  return !isKnown && !isProviderError(headOf(state));
}
