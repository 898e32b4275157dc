import type { ReadExact } from '../../wire/exact-json.ts';
import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { finishOf } from '../peculiarities/finish-reasons.ts';
import { CallIds } from '../translation/call-ids.ts';
import type { TranslationNotes } from '../translation/notes.ts';
import { streamErrorOf } from '../translation/stream-error.ts';
import type { StreamEvent, StreamReader } from '../translation/stream-events.ts';
import { argumentsText, textOfInput } from '../translation/tool-input.ts';
import { serviceTierOf, stopOf } from './read-answer.ts';
import { UsageTally } from './usage.ts';

const MAX_OPEN_BLOCKS = 1_024;
const MAX_CALLS = 1_024;
const MAX_SIGNATURE_CHARACTERS = 1024 * 1024;

type OpenBlock =
  | { readonly kind: 'text' }
  | { readonly kind: 'thinking'; signature: string[] }
  | { readonly kind: 'call'; readonly index: number; readonly input: unknown; hasArguments: boolean }
  | { readonly kind: 'other' };

/** Reads the events of a streamed message. */
export class MessagesStreamReader implements StreamReader {
  readonly #usage = new UsageTally();
  readonly #ids: CallIds;
  readonly #open = new Map<unknown, OpenBlock>();
  #calls = 0;
  #signatureCharacters = 0;
  #hasBegun = false;
  #hasDelta = false;
  #isFinished = false;
  #isStopped = false;
  #hasFailed = false;

  constructor(notes: TranslationNotes) {
    this.#ids = new CallIds(notes);
  }

  get keptBytes(): number {
    return 2 * this.#signatureCharacters;
  }

  read(event: string, data: unknown, exact: ReadExact): StreamEvent[] {
    if (!isJsonObject(data) || this.#hasFailed) return [];
    // Clients go by the type in the data; servers that leave it out name the event.
    const type = data['type'] ?? event;
    if (type === 'error' || (type === '' && 'error' in data)) {
      this.#hasFailed = true;
      return [...this.#begin({}), { type: 'error', error: streamErrorOf(data['error']) }];
    }
    switch (type) {
      case 'message_start':
        return this.#start(data['message']);
      case 'content_block_start':
        return this.#isFinished ? [] : [...this.#begin({}), ...this.#startBlock(data, exact)];
      case 'content_block_delta':
        return this.#isFinished ? [] : this.#readDelta(data);
      case 'content_block_stop':
        return this.#stopBlock(data['index']);
      case 'message_delta':
        return [...this.#begin({}), ...this.#readMessageDelta(data)];
      case 'message_stop':
        this.#isStopped = true;
        return [];
      default:
        return [];
    }
  }

  /** Some servers end a message without a reason. */
  end(): StreamEvent[] {
    return this.#isStopped && this.#hasDelta && !this.#isFinished && !this.#hasFailed ? this.#finish({}) : [];
  }

  #start(message: unknown): StreamEvent[] {
    if (!isJsonObject(message)) return this.#begin({});
    const begin = this.#begin(message);
    this.#usage.add(message['usage']);
    return [...begin, ...this.#tellUsage()];
  }

  #begin({ id, model, usage }: JsonObject): StreamEvent[] {
    if (this.#hasBegun) return [];
    this.#hasBegun = true;
    return [
      {
        type: 'begin',
        id: typeof id === 'string' ? id : '',
        model: typeof model === 'string' ? model : '',
        ...serviceTierOf(usage),
      },
    ];
  }

  #tellUsage(): StreamEvent[] {
    const usage = this.#usage.usage;
    return usage ? [{ type: 'usage', usage }] : [];
  }

  #startBlock({ index, content_block: block }: JsonObject, exact: ReadExact): StreamEvent[] {
    const events = this.#stopBlock(index);
    if (!isJsonObject(block)) return events;
    if (this.#open.size >= MAX_OPEN_BLOCKS || this.#calls >= MAX_CALLS) {
      this.#hasFailed = true;
      const message = 'The provider sent more content blocks than are read.';
      return [...events, { type: 'error', error: { message } }];
    }
    const textOf = (name: string) => (typeof block[name] === 'string' ? block[name] : '');
    switch (block['type']) {
      case 'text':
        this.#open.set(index, { kind: 'text' });
        return textOf('text') === '' ? events : [...events, { type: 'text', text: textOf('text') }];
      case 'thinking': {
        const thinking = { kind: 'thinking', signature: [] } as const satisfies OpenBlock;
        this.#open.set(index, thinking);
        this.#addSignature(thinking, textOf('signature'));
        return textOf('thinking') === ''
          ? events
          : [...events, { type: 'reasoning', text: textOf('thinking') }];
      }
      case 'redacted_thinking': {
        const value = textOf('data');
        return value === '' ? events : [...events, { type: 'seal', seal: { kind: 'redacted', value } }];
      }
      case 'tool_use': {
        const call = this.#calls;
        this.#calls += 1;
        // Most servers begin with an empty one and send the text in pieces.
        const input = argumentsText(block['input']) === '' ? {} : inputIn(exact());
        this.#open.set(index, { kind: 'call', index: call, input, hasArguments: false });
        const id = this.#ids.give(textOf('id'));
        return [...events, { type: 'toolCall', index: call, id, kind: 'function', name: textOf('name') }];
      }
      default:
        this.#open.set(index, { kind: 'other' });
        return events;
    }
  }

  #readDelta({ index, delta }: JsonObject): StreamEvent[] {
    const block = this.#open.get(index);
    if (!block || !isJsonObject(delta)) return [];
    const textOf = (name: string) => (typeof delta[name] === 'string' ? delta[name] : '');
    switch (delta['type']) {
      case 'text_delta':
        return block.kind === 'text' && textOf('text') !== '' ? [{ type: 'text', text: textOf('text') }] : [];
      case 'thinking_delta':
        return block.kind === 'thinking' && textOf('thinking') !== ''
          ? [{ type: 'reasoning', text: textOf('thinking') }]
          : [];
      case 'signature_delta':
        if (block.kind === 'thinking') this.#addSignature(block, textOf('signature'));
        return [];
      case 'input_json_delta': {
        const text = textOf('partial_json');
        if (block.kind !== 'call' || text === '') return [];
        block.hasArguments = true;
        return [{ type: 'toolArguments', index: block.index, text }];
      }
      default:
        return [];
    }
  }

  /** A text that is too long is no signature: the caller gets the text without one. */
  #addSignature(block: Extract<OpenBlock, { kind: 'thinking' }>, piece: string): void {
    if (piece === '' || this.#signatureCharacters + piece.length > MAX_SIGNATURE_CHARACTERS) return;
    this.#signatureCharacters += piece.length;
    block.signature.push(piece);
  }

  #stopBlock(index: unknown): StreamEvent[] {
    const block = this.#open.get(index);
    this.#open.delete(index);
    switch (block?.kind) {
      case 'text':
        return [{ type: 'break' }];
      case 'thinking': {
        const value = block.signature.join('');
        this.#signatureCharacters -= value.length;
        return value === '' ? [{ type: 'break' }] : [{ type: 'seal', seal: { kind: 'signature', value } }];
      }
      case 'call': {
        const { index: call, input, hasArguments } = block;
        // A tool without arguments gets none in pieces; chat's callers parse what they get.
        const whole: StreamEvent[] = hasArguments
          ? []
          : [{ type: 'toolArguments', index: call, text: textOfInput(input) }];
        return [...whole, { type: 'toolCallEnd', index: call }];
      }
      default:
        return [];
    }
  }

  #readMessageDelta({ delta, usage }: JsonObject): StreamEvent[] {
    this.#usage.add(usage);
    const events = this.#tellUsage();
    this.#hasDelta = true;
    if (this.#isFinished || !isJsonObject(delta) || finishOf(delta['stop_reason']) === undefined)
      return events;
    return [...this.#finish(delta), ...events];
  }

  #finish(delta: JsonObject): StreamEvent[] {
    this.#isFinished = true;
    const rest = [...this.#open.keys()].flatMap((index) => this.#stopBlock(index));
    return [...rest, { type: 'finish', stop: stopOf(delta, this.#calls > 0) }];
  }
}

function inputIn({ content_block: block }: JsonObject): unknown {
  return isJsonObject(block) ? block['input'] : undefined;
}
