import { type JsonObject, textOf } from '../../wire/json.ts';
import type { Usage } from '../protocol.ts';
import { serviceTierOf } from '../translation/answer.ts';
import type { NeutralEvents, StreamError, StreamEvent } from '../translation/stream-events.ts';
import { isTokenCount } from '../usage-figures.ts';
import type { ChatPiece } from './pieces.ts';
import { stopOf } from './read-answer.ts';
import { StreamedReasoning } from './reasoning.ts';
import { StreamedCalls } from './stream-calls.ts';

/** The neutral events of a streamed chat completion. */
export class ChatToNeutral {
  readonly #translated: NeutralEvents;
  readonly #calls: StreamedCalls;
  readonly #reasoning: StreamedReasoning;
  #hasBegun = false;
  /** The choice that stated an end last. Some servers state one in each chunk, so the answer ends with the stream. */
  #ending: JsonObject | undefined;
  #hasFailed = false;
  #hasRefusal = false;
  #isDone = false;

  constructor(translated: NeutralEvents) {
    this.#translated = translated;
    this.#calls = new StreamedCalls(translated.notes);
    this.#reasoning = new StreamedReasoning(translated.notes.keepsReasoning === true);
  }

  get keptBytes(): number {
    return this.#calls.keptBytes + this.#reasoning.keptBytes;
  }

  begin(chunk: JsonObject): void {
    const { id, model, created } = chunk;
    if (this.#hasBegun || this.#hasFailed) return;
    this.#hasBegun = true;
    this.#translated.add({
      type: 'begin',
      id: textOf(id),
      model: textOf(model),
      ...(isTokenCount(created) && { createdSeconds: created }),
      ...serviceTierOf(chunk),
    });
  }

  sayText(text: string): void {
    if (this.#hasFailed) return;
    this.#seal();
    this.#translated.add({ type: 'text', text });
  }

  sayReasoning(piece: Pick<ChatPiece, 'reasoning' | 'details'>): void {
    if (this.#hasFailed) return;
    const text = this.#reasoning.add(piece);
    if (text !== '') this.#translated.add({ type: 'reasoning', text });
  }

  say(piece: ChatPiece): void {
    if (this.#hasFailed) return;
    const { text, refusal } = piece;
    this.sayReasoning(piece);
    const calls = this.#calls.read(piece.calls);
    if (refusal !== '' || calls.length > 0) this.#seal();
    if (text !== '') this.sayText(text);
    if (refusal !== '') {
      this.#hasRefusal = true;
      this.#translated.add({ type: 'refusal', text: refusal });
    }
    for (const event of calls) this.#translated.add(event);
    if (this.#calls.hasTooMany) this.#fail({ message: 'The provider sent more tool calls than are read.' });
  }

  finish(choice: JsonObject): void {
    this.#ending = choice;
  }

  state(usage: Usage): void {
    if (!this.#hasFailed) this.#translated.add({ type: 'usage', usage });
  }

  fail(chunk: JsonObject | undefined, error: StreamError): void {
    this.begin(chunk ?? {});
    this.#fail(error);
  }

  onEndMark(): void {
    this.#isDone = this.#hasBegun;
  }

  end(): void {
    if (this.#hasFailed || !this.#hasBegun) return;
    // Some servers send their end mark without a reason.
    const ending = this.#ending ?? (this.#isDone ? {} : undefined);
    if (!ending) return;
    if (!this.#ending && this.#calls.hasOpen) {
      this.#fail({ message: 'The provider ended its answer within the arguments of a tool.' });
      return;
    }
    this.#seal();
    const stop = stopOf(ending, { hasCalls: this.#calls.hasCalls, hasRefusal: this.#hasRefusal });
    const last: StreamEvent[] = [...this.#calls.end(), { type: 'finish', stop }];
    for (const event of last) this.#translated.add(event);
  }

  #seal(): void {
    const seal = this.#reasoning.takeSeal();
    if (seal) this.#translated.add({ type: 'seal', seal });
  }

  #fail(error: StreamError): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#translated.add({ type: 'error', error });
  }
}
