import type { JsonObject } from '../../wire/json.ts';
import type { ReasoningSeal } from '../translation/conversation.ts';
import { sealToText } from '../translation/reasoning.ts';
import type { StreamEvent } from '../translation/stream-events.ts';
import { InputPieces } from '../translation/tool-input.ts';

/** A block that has not ended. Only the first is written as it comes. */
interface Block {
  readonly kind: 'text' | 'thinking' | 'redacted' | 'call';
  /** The content of its first event. */
  readonly start: JsonObject;
  /** The text that is not written yet. */
  readonly pieces: string[];
  /** The arguments of a call. */
  readonly input: InputPieces;
  isComplete: boolean;
  /** The signature of a thinking, or the data of what is redacted. */
  seal: string;
}

function newBlock(kind: Block['kind'], start: JsonObject, seal?: string): Block {
  return {
    kind,
    start,
    pieces: [],
    input: new InputPieces(),
    isComplete: seal !== undefined,
    seal: seal ?? '',
  };
}

const TEXT = { type: 'text', text: '' };
const THINKING = { type: 'thinking', thinking: '', signature: '' };

type BlockEvent = Exclude<StreamEvent, { type: 'begin' | 'finish' | 'usage' | 'error' }>;

/** Puts what comes side by side into content blocks that follow one another. */
export class BlockQueue {
  // The first of them is the one that is open at the caller, if `#isOpen`.
  readonly #blocks: Block[] = [];
  readonly #calls = new Map<number, Block>();
  #isOpen = false;
  #index = 0;
  #keptCharacters = 0;

  /** The bytes that it holds in memory. */
  get keptBytes(): number {
    return 2 * this.#keptCharacters + 256 * this.#blocks.length;
  }

  /** The events that the caller can be sent now. */
  add(event: BlockEvent): JsonObject[] {
    switch (event.type) {
      case 'text':
      case 'refusal':
        this.#keep(this.#last('text'), event.text);
        break;
      case 'reasoning':
        this.#keep(this.#last('thinking'), event.text);
        break;
      case 'seal':
        this.#seal(event.seal);
        break;
      case 'break':
        this.#break();
        break;
      case 'toolCall': {
        const { id, name, index } = event;
        const block = newBlock('call', { type: 'tool_use', id, name, input: {} });
        this.#calls.set(index, block);
        this.#blocks.push(block);
        break;
      }
      case 'toolArguments': {
        const call = this.#calls.get(event.index);
        if (!call || call.isComplete) break;
        this.#keep(call, call.input.add(event.text));
        // Nothing after a whole object belongs to it.
        call.isComplete = call.input.isComplete;
        break;
      }
      case 'toolCallEnd':
        this.#endCall(event.index);
        break;
    }
    return this.#write();
  }

  /** The rest: whatever was open has ended. */
  end(): JsonObject[] {
    for (const index of this.#calls.keys()) this.#endCall(index);
    this.#break();
    return this.#write();
  }

  #endCall(index: number): void {
    const call = this.#calls.get(index);
    if (!call || call.isComplete) return;
    this.#keep(call, call.input.end());
    call.isComplete = true;
  }

  /** The block that more of this kind belongs to. */
  #last(kind: 'text' | 'thinking'): Block {
    const last = this.#blocks.at(-1);
    if (last?.kind === kind && !last.isComplete) return last;
    const block = newBlock(kind, kind === 'text' ? TEXT : THINKING);
    this.#blocks.push(block);
    return block;
  }

  #keep(block: Block, piece: string): void {
    if (piece === '') return;
    block.pieces.push(piece);
    this.#keptCharacters += piece.length;
  }

  #break(): void {
    const last = this.#blocks.at(-1);
    if (last?.kind === 'text' || last?.kind === 'thinking') last.isComplete = true;
  }

  #seal(seal: ReasoningSeal): void {
    const isOwn = seal.kind === 'signature' || seal.kind === 'redacted';
    const value = isOwn ? seal.value : (sealToText(seal) ?? '');
    this.#keptCharacters += value.length;
    const last = this.#blocks.at(-1);
    if (seal.kind !== 'redacted' && seal.kind !== 'extra' && last?.kind === 'thinking' && !last.isComplete) {
      last.seal = value;
      last.isComplete = true;
    } else if (seal.kind === 'signature') {
      this.#blocks.push(newBlock('thinking', THINKING, value));
    } else {
      this.#blocks.push(newBlock('redacted', { type: 'redacted_thinking', data: value }, value));
    }
  }

  #write(): JsonObject[] {
    const events: JsonObject[] = [];
    for (let block = this.#blocks[0]; block; block = this.#blocks[0]) {
      if (!this.#isOpen) {
        this.#isOpen = true;
        events.push({ type: 'content_block_start', index: this.#index, content_block: block.start });
      }
      if (block.pieces.length > 0) {
        const text = block.pieces.join('');
        this.#keptCharacters -= text.length;
        block.pieces.length = 0;
        events.push({ type: 'content_block_delta', index: this.#index, delta: deltaOf(block, text) });
      }
      const isFollowed = this.#blocks.length > 1 && (block.kind === 'text' || block.kind === 'thinking');
      if (!block.isComplete && !isFollowed) break;
      events.push(...this.#close(block));
      this.#blocks.shift();
    }
    return events;
  }

  #close(block: Block): JsonObject[] {
    const index = this.#index;
    this.#index += 1;
    this.#isOpen = false;
    this.#keptCharacters -= block.seal.length;
    const signature = block.kind === 'thinking' ? block.seal : '';
    const delta = { type: 'signature_delta', signature };
    return [
      ...(signature === '' ? [] : [{ type: 'content_block_delta', index, delta }]),
      { type: 'content_block_stop', index },
    ];
  }
}

function deltaOf(block: Block, text: string): JsonObject {
  switch (block.kind) {
    case 'call':
      return { type: 'input_json_delta', partial_json: text };
    case 'thinking':
      return { type: 'thinking_delta', thinking: text };
    default:
      return { type: 'text_delta', text };
  }
}
