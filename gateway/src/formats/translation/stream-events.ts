import { isJsonObject } from '../../wire/json.ts';
import { isTooLong, TOO_LONG_CODE } from '../peculiarities/context-length.ts';
import { readErrorMessage } from '../peculiarities/error-message.ts';
import type { Usage } from '../protocol.ts';
import type { ServiceTier, Stop } from './answer.ts';
import { CallersToolStream } from './callers-tools.ts';
import type { ReasoningSeal, ToolKind } from './conversation.ts';
import type { TranslationNotes } from './translator.ts';

// The neutral form of a streamed answer. The provider's format turns its events into these, a stream writer turns
// these into the caller's events.
//
// The order: one begin; then text, refusal, reasoning, seals, tool calls and breaks; then finish and usage in
// any order; or an error, after which nothing comes. A reader keeps this order whatever the provider sends: it makes
// up a begin where there was none, drops what comes after an error, and says finish once.

export type StreamEvent =
  | {
      readonly type: 'begin';
      /** The provider's; empty where it gave none. */
      readonly id: string;
      readonly model: string;
      readonly createdSeconds?: number;
      readonly serviceTier?: ServiceTier;
    }
  /** More of the answer's text, never empty. */
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'refusal'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  /** Belongs to the reasoning before it, or stands alone where none was shown. The reasoning part ends with it. */
  | { readonly type: 'seal'; readonly seal: ReasoningSeal }
  /** The part before it has ended: text after it is another part, even if it is of the same kind. */
  | { readonly type: 'break' }
  /**
   * A tool call begins. `index` tells it from the others of this answer, counted from 0 in their order; calls may go on
   * side by side.
   */
  | {
      readonly type: 'toolCall';
      readonly index: number;
      readonly id: string;
      readonly kind: ToolKind;
      readonly name: string;
    }
  /** More of its arguments (ToolCallPart says what they are), split anywhere, never empty. */
  | { readonly type: 'toolArguments'; readonly index: number; readonly text: string }
  /** Its arguments are complete. Left out where the provider does not say: then finish is the end of all of them. */
  | { readonly type: 'toolCallEnd'; readonly index: number }
  | { readonly type: 'finish'; readonly stop: Stop }
  /** All that is known so far, not an increase; the last one counts. */
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'error'; readonly error: StreamError };

/** Why a provider ended its stream. */
export interface StreamError {
  readonly message: string;
  /**
   * The provider's kind of error, where it names one: overloaded_error, server_error, rate_limit_exceeded. For a conversation that is too
   * long context_length_exceeded, whatever it named.
   */
  readonly kind?: string;
}

/** Turns neutral events into the caller's, as the bytes of whole events. */
export interface StreamWriter {
  /** The bytes that it holds in memory. */
  readonly keptBytes: number;
  /** The message of the error with which it ended the stream. */
  readonly error: string | undefined;
  write(event: StreamEvent): string;
  /** The last events and the format's end mark; nothing where no finish came: then the stream was aborted. */
  end(): string;
  /** An event that keeps a silent stream alive and means nothing. */
  ping(): string;
}

/** The error of a provider in the middle of a stream. */
export function streamErrorOf(error: unknown): StreamError {
  const message = readErrorMessage(error) ?? UNSAID;
  const { type, code } = isJsonObject(error) ? error : {};
  if (isTooLong(message, code, type)) return { message, kind: TOO_LONG_CODE };
  const words = [type, code].filter((one): one is string => typeof one === 'string' && one !== '');
  // By its code, which is OpenAI's, a client waits and tries again: the type beside it is `tokens` or `requests`.
  const isRateLimit = String(code) === '429' || words.some((one) => one.startsWith('rate_limit'));
  const kind = isRateLimit ? 'rate_limit_exceeded' : words[0];
  return { message, ...(kind !== undefined && { kind }) };
}

const UNSAID = 'The provider ended its answer with an error that it did not explain.';

/** Takes what a provider's stream says. */
export type NeutralEvents = Pick<TranslatedEvents, 'notes' | 'add'>;

/** The events of a provider's stream on their way into the caller's format. */
export class TranslatedEvents {
  readonly notes: TranslationNotes;
  readonly #tools: CallersToolStream;
  readonly #writer: StreamWriter;
  #written: string[] = [];

  constructor(notes: TranslationNotes, writer: StreamWriter) {
    this.notes = notes;
    this.#tools = new CallersToolStream(notes);
    this.#writer = writer;
  }

  /** The bytes that it holds in memory, beside what is written and not taken. */
  get keptBytes(): number {
    return this.#tools.keptBytes + this.#writer.keptBytes;
  }

  /** The error with which the caller's stream has ended. */
  get error(): string | null {
    return this.#writer.error ?? null;
  }

  /** The events that are written and not taken. */
  get count(): number {
    return this.#written.length;
  }

  /** Writes a neutral event. */
  add(event: StreamEvent): void {
    for (const one of this.#tools.pass(event)) {
      const written = this.#writer.write(one);
      if (written !== '') this.#written.push(written);
    }
  }

  /** Takes what was written after the first `count` events. */
  takeFrom(count: number): Buffer {
    const taken = count === 0 ? this.#written : this.#written.slice(count);
    this.#written = count === 0 ? [] : this.#written.slice(0, count);
    return Buffer.from(taken.join(''));
  }

  /** The last events, once there are no more. Nothing where the provider stopped before its answer was finished. */
  end(): Buffer {
    return Buffer.from(this.#written.splice(0).join('') + this.#writer.end());
  }

  /** An event that says that the stream is alive. Never in the middle of another. */
  ping(): Buffer {
    return Buffer.from(this.#writer.ping());
  }
}
