import type { ReadExact } from '../wire/exact-json.ts';
import type { JsonObject } from '../wire/json.ts';

/** An event with data, as the caller may see it. */
export interface ReceivedEvent {
  readonly bytes: Buffer;
  readonly text: string;
  readonly data: string;
  /** The data, where it is an object in JSON. */
  readonly value: JsonObject | undefined;
  /** The same with its numbers as they were sent. */
  readonly exact: ReadExact;
}

/** The fate of an event: the bytes that go on to a caller of the same format, or it is left out, or is the end mark. */
export type EventFate = Buffer | 'left out' | 'end mark';

/**
 * Reads the events of a provider's stream, each once. What they say becomes facts; where the caller reads another format, it also becomes
 * neutral events.
 */
export interface EventReader {
  /** The bytes that it holds in memory, beside those of the tally. */
  readonly keptBytes: number;
  /** True if the answer reached its end; `isDone` says that the end mark has come. */
  isComplete(isDone: boolean): boolean;
  read(event: ReceivedEvent): EventFate;
  /** The text of the event that was read last, if it holds no more than that; undefined otherwise. */
  readonly onlyText: string | undefined;
  /** Reads an event that is the same as the last one with an `onlyText`, but for that text. */
  readText(text: string): void;
  /** True if an event after the end mark still counts. */
  isLate(value: JsonObject): boolean;
  /** The stream is over: what was held back of a translation goes on. */
  end(): void;
}
