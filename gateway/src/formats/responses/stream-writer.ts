import type { JsonObject } from '../../wire/json.ts';
import type { Usage } from '../protocol.ts';
import type { Stop } from '../translation/answer.ts';
import type { ReasoningSeal } from '../translation/conversation.ts';
import type { StreamError, StreamEvent, StreamWriter } from '../translation/stream-events.ts';
import type { TranslationNotes } from '../translation/translator.ts';
import {
  formOf,
  type ItemEvent,
  type ItemStatus,
  itemId,
  OpenCall,
  OpenMessage,
  OpenReasoning,
} from './output-items.ts';
import { endingOf, type ResponseState, responseObject } from './response-object.ts';

/**
 * The last event of a response repeats all of it, so all of it is kept. The longest answers of today's models are half
 * a megabyte; the events at the end of one of this size are four times as long.
 */
export const MAX_KEPT_CHARACTERS = 2 * 1024 * 1024;
/** The cost of an item beside its text. */
const ITEM_CHARACTERS = 1024;

const TOO_LARGE: StreamError = {
  message: `The answer is longer than ${MAX_KEPT_CHARACTERS} characters, the most that a translated response has.`,
  kind: 'server_error',
};
/** Writes a streamed answer as the events of the Responses API. */
export class ResponsesStreamWriter implements StreamWriter {
  readonly #notes: TranslationNotes;
  #sequence = 0;
  #hasBegun = false;
  #isOver = false;
  error: string | undefined;
  #model = '';
  #serviceTier: string | undefined;
  #stop: Stop | undefined;
  #usage: Usage | undefined;
  #hasRefusal = false;
  // The text or reasoning that goes on; calls go on beside each other.
  #open: OpenMessage | OpenReasoning | undefined;
  readonly #calls = new Map<number, OpenCall>();
  // By their place; one that is still open has none yet.
  readonly #output: (JsonObject | undefined)[] = [];
  #keptCharacters = 0;

  constructor(notes: TranslationNotes) {
    this.#notes = notes;
  }

  get keptBytes(): number {
    return 2 * this.#keptCharacters;
  }

  write(event: StreamEvent): string {
    if (this.#isOver) return '';
    if (event.type === 'error') return this.#fail(event.error);
    const begun = this.#begin(event.type === 'begin' ? event : undefined);
    if (this.#keptCharacters > MAX_KEPT_CHARACTERS) return begun + this.#fail(TOO_LARGE);
    return begun + this.#events(this.#take(event));
  }

  end(): string {
    const stop = this.#stop;
    if (this.#isOver || !stop) return '';
    const begun = this.#begin(undefined);
    const ending = endingOf(stop, this.#hasRefusal);
    const { status } = ending;
    const items = this.#events([...this.#endOpen(status), ...this.#endCalls(status)]);
    this.#isOver = true;
    return begun + items + this.#events([{ type: `response.${status}`, response: this.#response(ending) }]);
  }

  /** A repeated `response.in_progress`: comments do not count as life for Codex, and other names are not known. */
  ping(): string {
    if (this.#isOver) return '';
    if (!this.#hasBegun) return this.#begin(undefined);
    return this.#events([this.#inProgress()]);
  }

  #begin(event: Extract<StreamEvent, { type: 'begin' }> | undefined): string {
    if (event) {
      this.#model = event.model;
      this.#serviceTier = event.serviceTier;
    }
    if (this.#hasBegun) return '';
    this.#hasBegun = true;
    const response = this.#response({ status: 'in_progress' });
    return this.#events([{ type: 'response.created', response }, this.#inProgress()]);
  }

  #inProgress(): ItemEvent {
    return { type: 'response.in_progress', response: this.#response({ status: 'in_progress' }) };
  }

  #take(event: Exclude<StreamEvent, { type: 'error' }>): ItemEvent[] {
    switch (event.type) {
      case 'begin':
        return [];
      case 'text':
      case 'refusal':
        return this.#say(event.type, event.text);
      case 'reasoning':
        return this.#think(event.text);
      case 'seal':
        return this.#seal(event.seal);
      case 'break':
        return this.#endOpen('completed');
      case 'toolCall':
        return this.#call(event);
      case 'toolArguments': {
        const call = this.#calls.get(event.index);
        if (!call) return [];
        this.#keptCharacters += event.text.length;
        return call.add(event.text);
      }
      case 'toolCallEnd':
        // Arguments that are no JSON may be cut short: how the answer ends says so.
        return this.#calls.get(event.index)?.isWhole ? this.#endCall(event.index, 'completed') : [];
      case 'finish':
        this.#stop = event.stop;
        return [];
      case 'usage':
        this.#usage = event.usage;
        return [];
    }
  }

  #say(type: 'text' | 'refusal', text: string): ItemEvent[] {
    this.#keptCharacters += text.length;
    if (type === 'refusal') this.#hasRefusal = true;
    if (this.#open instanceof OpenMessage) return this.#open.add(type, text);
    const ended = this.#endOpen('completed');
    const index = this.#reserve();
    const message = new OpenMessage(itemId('message', this.#notes, index), index);
    this.#open = message;
    return [...ended, ...message.begin(), ...message.add(type, text)];
  }

  #think(text: string): ItemEvent[] {
    this.#keptCharacters += text.length;
    const { reasoning, events } = this.#openReasoning();
    return [...events, ...reasoning.add(text)];
  }

  #seal(seal: ReasoningSeal): ItemEvent[] {
    this.#keptCharacters += seal.value.length;
    const { events } = this.#openReasoning();
    return [...events, ...this.#endOpen('completed', seal)];
  }

  /** The reasoning that goes on, or one that begins. */
  #openReasoning(): { readonly reasoning: OpenReasoning; readonly events: ItemEvent[] } {
    if (this.#open instanceof OpenReasoning) return { reasoning: this.#open, events: [] };
    const ended = this.#endOpen('completed');
    const index = this.#reserve();
    const reasoning = new OpenReasoning(itemId('reasoning', this.#notes, index), index);
    this.#open = reasoning;
    return { reasoning, events: [...ended, ...reasoning.begin()] };
  }

  #call({ index, id, kind, name }: Extract<StreamEvent, { type: 'toolCall' }>): ItemEvent[] {
    const ended = [...this.#endOpen('completed'), ...this.#endCall(index, 'completed')];
    const place = this.#reserve();
    const call = new OpenCall(
      itemId(formOf({ kind, name }, this.#notes), this.#notes, place),
      place,
      { kind, callId: id, name },
      this.#notes,
    );
    this.#calls.set(index, call);
    return [...ended, ...call.begin()];
  }

  #reserve(): number {
    this.#keptCharacters += ITEM_CHARACTERS;
    return this.#output.push(undefined) - 1;
  }

  #endOpen(status: ItemStatus, seal?: ReasoningSeal): ItemEvent[] {
    const open = this.#open;
    this.#open = undefined;
    if (!open) return [];
    const { events, item } = open.end(status, seal);
    this.#output[open.outputIndex] = item;
    return events;
  }

  #endCall(index: number, status: ItemStatus): ItemEvent[] {
    const call = this.#calls.get(index);
    if (!call) return [];
    this.#calls.delete(index);
    const { events, item } = call.end(status);
    this.#output[call.outputIndex] = item;
    return events;
  }

  /** Only the last of several calls can have been cut short. */
  #endCalls(lastStatus: ItemStatus): ItemEvent[] {
    const indexes = [...this.#calls.keys()];
    return indexes.flatMap((index, place) =>
      this.#endCall(index, place === indexes.length - 1 ? lastStatus : 'completed'),
    );
  }

  /**
   * The error twice: SDKs throw at `error` and know nothing of why a response failed, Codex passes over `error` and
   * shows the message of `response.failed`.
   */
  #fail({ message, kind }: StreamError): string {
    const begun = this.#begin(undefined);
    this.#isOver = true;
    this.error = message;
    const code = kind ?? 'server_error';
    this.#open = undefined;
    this.#calls.clear();
    const response = this.#response({ status: 'failed', error: { code, message } });
    return (
      begun +
      this.#events([
        { type: 'error', code, message, param: null },
        { type: 'response.failed', response },
      ])
    );
  }

  #response(state: Omit<ResponseState, 'output' | 'model' | 'serviceTier' | 'usage'>): JsonObject {
    return responseObject(this.#notes, {
      ...state,
      output: state.status === 'in_progress' ? [] : this.#output.filter((item) => item !== undefined),
      model: this.#model,
      serviceTier: this.#serviceTier,
      usage: state.status === 'in_progress' ? undefined : this.#usage,
    });
  }

  #events(events: readonly ItemEvent[]): string {
    return events
      .map((event) => {
        const { type, ...members } = event;
        const data = JSON.stringify({ type, sequence_number: this.#sequence++, ...members });
        return `event: ${type}\ndata: ${data}\n\n`;
      })
      .join('');
  }
}
