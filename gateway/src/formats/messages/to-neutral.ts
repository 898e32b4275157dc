import type { ReadExact } from '../../wire/exact-json.ts';
import { isJsonObject, type JsonObject, textOf } from '../../wire/json.ts';
import { finishOf } from '../peculiarities/finish-reasons.ts';
import type { Usage } from '../protocol.ts';
import { serviceTierOf } from '../translation/answer.ts';
import { CallIds } from '../translation/call-ids.ts';
import type { NeutralEvents, StreamError } from '../translation/stream-events.ts';
import { argumentsText, textOfInput } from '../translation/tool-input.ts';
import { stopOf } from './read-answer.ts';

const MAX_OPEN_BLOCKS = 1_024;
const MAX_CALLS = 1_024;
const MAX_SIGNATURE_CHARACTERS = 1024 * 1024;

type OpenBlock =
  | { readonly kind: 'text' }
  | { readonly kind: 'thinking'; signature: string[] }
  | { readonly kind: 'call'; readonly index: number; readonly input: unknown; hasArguments: boolean }
  | { readonly kind: 'other' };

/** The neutral events of a streamed message. */
export class MessagesToNeutral {
  readonly #translated: NeutralEvents;
  readonly #ids: CallIds;
  readonly #open = new Map<unknown, OpenBlock>();
  #calls = 0;
  #signatureCharacters = 0;
  #hasBegun = false;
  #hasDelta = false;
  #isFinished = false;
  #isStopped = false;
  #hasFailed = false;

  constructor(translated: NeutralEvents) {
    this.#translated = translated;
    this.#ids = new CallIds(translated.notes);
  }

  get keptBytes(): number {
    return 2 * this.#signatureCharacters;
  }

  begin({ id, model, usage }: JsonObject): void {
    if (this.#hasBegun || this.#hasFailed) return;
    this.#hasBegun = true;
    this.#translated.add({
      type: 'begin',
      id: textOf(id),
      model: textOf(model),
      ...(isJsonObject(usage) && serviceTierOf(usage)),
    });
  }

  state(usage: Usage): void {
    if (!this.#hasFailed) this.#translated.add({ type: 'usage', usage });
  }

  onEndMark(): void {
    this.#isStopped = true;
  }

  fail(error: StreamError): void {
    this.begin({});
    if (!this.#hasFailed) this.#translated.add({ type: 'error', error });
    this.#hasFailed = true;
  }

  /** Some servers end a message without a reason. */
  end(): void {
    if (this.#isStopped && this.#hasDelta && !this.#isFinished && !this.#hasFailed) this.#end({});
  }

  startBlock({ index, content_block: block }: JsonObject, exact: ReadExact): void {
    if (this.#isFinished || this.#hasFailed) return;
    this.begin({});
    this.stopBlock(index);
    if (!isJsonObject(block)) return;
    if (this.#open.size >= MAX_OPEN_BLOCKS || this.#calls >= MAX_CALLS) {
      this.fail({ message: 'The provider sent more content blocks than are read.' });
      return;
    }
    switch (block['type']) {
      case 'text':
        this.#open.set(index, { kind: 'text' });
        this.#say('text', textOf(block['text']));
        return;
      case 'thinking': {
        const thinking = { kind: 'thinking', signature: [] } as const satisfies OpenBlock;
        this.#open.set(index, thinking);
        this.#addSignature(thinking, textOf(block['signature']));
        this.#say('reasoning', textOf(block['thinking']));
        return;
      }
      case 'redacted_thinking': {
        const value = textOf(block['data']);
        if (value !== '') this.#translated.add({ type: 'seal', seal: { kind: 'redacted', value } });
        return;
      }
      case 'tool_use': {
        const name = textOf(block['name']);
        if (name === '') return;
        const call = this.#calls;
        this.#calls += 1;
        // Most servers begin with an empty one and send the text in pieces.
        const input = argumentsText(block['input']) === '' ? {} : inputIn(exact());
        this.#open.set(index, { kind: 'call', index: call, input, hasArguments: false });
        const id = this.#ids.give(textOf(block['id']));
        this.#translated.add({ type: 'toolCall', index: call, id, kind: 'function', name });
        return;
      }
      default:
        this.#open.set(index, { kind: 'other' });
    }
  }

  readDelta({ index, delta }: JsonObject): void {
    if (!isJsonObject(delta) || this.#isFinished || this.#hasFailed) return;
    const block = this.#open.get(index) ?? this.#openUnstarted(index, delta);
    if (!block) return;
    switch (delta['type']) {
      case 'text_delta':
        // SGLang sends it at the place of a call that is open.
        this.#say('text', textOf(delta['text']));
        return;
      case 'thinking_delta':
      case 'signature_delta':
        this.#say('reasoning', textOf(delta['thinking']));
        // Some servers write it into the last piece of the text.
        if (block.kind === 'thinking') this.#addSignature(block, textOf(delta['signature']));
        return;
      case 'input_json_delta': {
        const text = argumentsText(delta['partial_json']);
        if (block.kind !== 'call' || text === '') return;
        block.hasArguments = true;
        this.#translated.add({ type: 'toolArguments', index: block.index, text });
      }
    }
  }

  /** A block that some servers do not start: its delta says what it is, but for a call, which has its name at the start. */
  #openUnstarted(index: unknown, { type }: JsonObject): OpenBlock | undefined {
    const kind = type === 'text_delta' ? 'text' : type === 'thinking_delta' ? 'thinking' : undefined;
    if (!kind) return undefined;
    this.startBlock({ index, content_block: { type: kind } }, () => ({}));
    return this.#open.get(index);
  }

  stopBlock(index: unknown): void {
    const block = this.#open.get(index);
    this.#open.delete(index);
    if (this.#hasFailed) return;
    switch (block?.kind) {
      case 'text':
        this.#translated.add({ type: 'break' });
        return;
      case 'thinking': {
        const value = block.signature.join('');
        this.#signatureCharacters -= value.length;
        this.#translated.add(
          value === '' ? { type: 'break' } : { type: 'seal', seal: { kind: 'signature', value } },
        );
        return;
      }
      case 'call': {
        const { index: call, input, hasArguments } = block;
        // A tool without arguments gets none in pieces; chat's callers parse what they get.
        const text = hasArguments ? '' : textOfInput(input);
        if (text !== '') this.#translated.add({ type: 'toolArguments', index: call, text });
        this.#translated.add({ type: 'toolCallEnd', index: call });
      }
    }
  }

  /** The reason for which the message stops, where the delta of a message says it. */
  finish(delta: JsonObject): void {
    this.begin({});
    this.#hasDelta = true;
    const end = finishOf(delta['stop_reason']);
    if (this.#isFinished || this.#hasFailed || end === undefined || end === 'failed') return;
    this.#end(delta);
  }

  #end(delta: JsonObject): void {
    for (const index of this.#open.keys()) this.stopBlock(index);
    this.#isFinished = true;
    this.#translated.add({ type: 'finish', stop: stopOf(delta, this.#calls > 0) });
  }

  #say(type: 'text' | 'reasoning', text: string): void {
    if (text !== '') this.#translated.add({ type, text });
  }

  /** A text that is too long is no signature: the caller gets the text without one. */
  #addSignature(block: Extract<OpenBlock, { kind: 'thinking' }>, piece: string): void {
    if (piece === '' || this.#signatureCharacters + piece.length > MAX_SIGNATURE_CHARACTERS) return;
    this.#signatureCharacters += piece.length;
    block.signature.push(piece);
  }
}

function inputIn({ content_block: block }: JsonObject): unknown {
  return isJsonObject(block) ? block['input'] : undefined;
}
