import type { ReadExact } from '../../wire/exact-json.ts';
import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { finishOf } from '../peculiarities/finish-reasons.ts';
import { readUsage, statedUsage } from '../peculiarities/usage-names.ts';
import type { TranslationNotes } from '../translation/notes.ts';
import { streamErrorOf } from '../translation/stream-error.ts';
import { END_MARK, type StreamEvent, type StreamReader } from '../translation/stream-events.ts';
import { isTokenCount } from '../usage-figures.ts';
import { textOfContent } from './content-text.ts';
import { stopOf } from './read-answer.ts';
import { StreamedCalls } from './stream-calls.ts';
import { StreamedReasoning } from './stream-reasoning.ts';

/** Reads the chunks of a streamed chat completion. Only the first choice: one was asked for. */
export class ChatStreamReader implements StreamReader {
  readonly #calls: StreamedCalls;
  readonly #reasoning: StreamedReasoning;
  #hasBegun = false;
  /** The choice that stated an end last. Some servers state one in each chunk, so the answer ends with the stream. */
  #ending: JsonObject | undefined;
  #hasFailed = false;
  #hasRefusal = false;
  #isDone = false;

  constructor(notes: TranslationNotes) {
    this.#calls = new StreamedCalls(notes);
    this.#reasoning = new StreamedReasoning(notes.keepsReasoning === true);
  }

  get keptBytes(): number {
    return this.#calls.keptBytes + this.#reasoning.keptBytes;
  }

  read(_event: string, data: unknown, exact: ReadExact): StreamEvent[] {
    if (this.#hasFailed) return [];
    if (!isJsonObject(data)) {
      this.#isDone ||= data === END_MARK && this.#hasBegun;
      return [];
    }
    const choice = choiceOf(data);
    const error = data['error'] ?? choice?.['error'];
    if (error !== undefined && error !== null) {
      this.#hasFailed = true;
      return [...this.#begin(data), { type: 'error', error: streamErrorOf(error) }];
    }
    const usage = readUsage(statedUsage(data));
    // Azure's first chunk has no choice and no names.
    if (!this.#hasBegun && !choice && !usage) return [];
    return [
      ...this.#begin(data),
      ...(choice ? this.#readChoice(choice, exact) : []),
      ...(usage ? [{ type: 'usage', usage } as const] : []),
    ];
  }

  end(): StreamEvent[] {
    if (this.#hasFailed || !this.#hasBegun) return [];
    // Some servers send their end mark without a reason.
    const ending = this.#ending ?? (this.#isDone ? {} : undefined);
    return ending ? this.#finish(ending) : [];
  }

  #begin(data: JsonObject): StreamEvent[] {
    if (this.#hasBegun) return [];
    this.#hasBegun = true;
    const { id, model, created, service_tier: tier } = data;
    return [
      {
        type: 'begin',
        id: typeof id === 'string' ? id : '',
        model: typeof model === 'string' ? model : '',
        ...(isTokenCount(created) && { createdSeconds: created }),
        ...(typeof tier === 'string' && { serviceTier: tier }),
      },
    ];
  }

  #readChoice(choice: JsonObject, exact: ReadExact): StreamEvent[] {
    const delta = deltaOf(choice);
    const calls = this.#calls.read(callsOf(delta), () => callsOf(deltaOf(choiceOf(exact()))));
    const events = this.#readDelta(delta, calls);
    if (this.#calls.hasTooMany) {
      this.#hasFailed = true;
      const message = 'The provider sent more tool calls than are read.';
      return [...events, { type: 'error', error: { message } }];
    }
    if (finishOf(choice['finish_reason']) !== undefined) this.#ending = choice;
    return events;
  }

  #readDelta(delta: JsonObject, calls: readonly StreamEvent[]): StreamEvent[] {
    const { content, refusal } = delta;
    const reasoning = this.#reasoning.add(delta);
    const after: StreamEvent[] = [];
    const text = textOfContent(content);
    if (text !== '') after.push({ type: 'text', text });
    if (typeof refusal === 'string' && refusal !== '') {
      this.#hasRefusal = true;
      after.push({ type: 'refusal', text: refusal });
    }
    return [
      ...(reasoning === '' ? [] : [{ type: 'reasoning', text: reasoning } as const]),
      ...(after.length + calls.length > 0 ? this.#reasoning.takeSeal() : []),
      ...after,
      ...calls,
    ];
  }

  #finish(choice: JsonObject): StreamEvent[] {
    const stop = stopOf(choice, { hasCalls: this.#calls.hasCalls, hasRefusal: this.#hasRefusal });
    return [...this.#reasoning.takeSeal(), ...this.#calls.end(), { type: 'finish', stop }];
  }
}

function choiceOf(data: JsonObject): JsonObject | undefined {
  return Array.isArray(data['choices']) ? data['choices'].find(isJsonObject) : undefined;
}

function deltaOf(choice: JsonObject | undefined): JsonObject {
  const delta = choice?.['delta'];
  return isJsonObject(delta) ? delta : {};
}

function callsOf({ tool_calls: calls }: JsonObject): readonly unknown[] {
  return Array.isArray(calls) ? calls : [];
}
