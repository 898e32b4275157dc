import { randomBytes } from 'node:crypto';
import type { JsonObject } from '../../wire/json.ts';
import { TOO_LONG_CODE } from '../peculiarities/context-length.ts';
import type { Usage } from '../protocol.ts';
import { answerId } from '../translation/answer.ts';
import type { ReasoningSeal } from '../translation/conversation.ts';
import type { StreamEvent, StreamWriter } from '../translation/stream-events.ts';
import type { TranslationNotes } from '../translation/translator.ts';
import { detailOf } from './reasoning.ts';
import { finishReason, writeUsage } from './write-answer.ts';

// A signature covers its text, so a caller gets both in one entry. What is larger is shown, but cannot be sent back.
const MAX_SEALED_CHARACTERS = 512 * 1024;
/** A text that no provider can know, and so none writes. */
const MARK = randomBytes(9).toString('base64');

/** Writes a streamed chat completion for a caller. */
export class ChatStreamWriter implements StreamWriter {
  readonly #notes: TranslationNotes;
  #head: JsonObject = {};
  /** Most chunks differ in their text alone. */
  #textChunk: (text: string) => string = (content) => this.#chunk({ content });
  #usage: Usage | undefined;
  #isFinished = false;
  #hasRefusal = false;
  error: string | undefined;
  #reasoning: string[] = [];
  #reasoningCharacters = 0;
  #details = 0;
  readonly #custom = new Set<number>();

  constructor(notes: TranslationNotes) {
    this.#notes = notes;
  }

  get keptBytes(): number {
    return 2 * Math.min(this.#reasoningCharacters, MAX_SEALED_CHARACTERS);
  }

  write(event: StreamEvent): string {
    if (this.error !== undefined) return '';
    switch (event.type) {
      case 'begin':
        this.#head = {
          id: answerId('chatcmpl-', event.id, this.#notes.requestId),
          object: 'chat.completion.chunk',
          created: event.createdSeconds ?? this.#notes.createdSeconds,
          model: event.model || this.#notes.model,
          ...(event.serviceTier !== undefined && { service_tier: event.serviceTier }),
        };
        this.#textChunk = repeated((content) => this.#chunk({ content }));
        return this.#chunk({ role: 'assistant', content: '' });
      case 'text':
        return this.#textChunk(event.text);
      case 'refusal':
        this.#hasRefusal = true;
        return this.#chunk({ refusal: event.text });
      case 'reasoning':
        this.#keepReasoning(event.text);
        return this.#chunk({ reasoning_content: event.text });
      case 'seal':
        return this.#seal(event.seal);
      case 'break':
        this.#forgetReasoning();
        return '';
      case 'toolCall': {
        const { index, id, kind, name } = event;
        if (kind === 'custom') this.#custom.add(index);
        return this.#call(
          kind === 'custom'
            ? { index, id, type: 'custom', custom: { name, input: '' } }
            : { index, id, type: 'function', function: { name, arguments: '' } },
        );
      }
      case 'toolArguments': {
        const { index, text } = event;
        return this.#call(
          this.#custom.has(index)
            ? { index, custom: { input: text } }
            : { index, function: { arguments: text } },
        );
      }
      case 'toolCallEnd':
        return '';
      case 'finish':
        this.#isFinished = true;
        return this.#chunk({}, finishReason(event.stop.reason, this.#hasRefusal));
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'error': {
        const { message, kind = 'upstream_error' } = event.error;
        this.error = message;
        const type = kind === TOO_LONG_CODE ? 'invalid_request_error' : kind;
        return line({ error: { message, type, param: null, code: kind } });
      }
    }
  }

  end(): string {
    if (this.error !== undefined || !this.#isFinished) return '';
    const usage = this.#usage && this.#notes.showsUsage ? writeUsage(this.#usage) : undefined;
    const last = usage ? line({ ...this.#head, choices: [], usage }) : '';
    return `${last}data: [DONE]\n\n`;
  }

  ping(): string {
    return ': ping\n\n';
  }

  #call(call: JsonObject): string {
    return this.#chunk({ tool_calls: [call] });
  }

  #seal(seal: ReasoningSeal): string {
    const isWhole = this.#reasoningCharacters <= MAX_SEALED_CHARACTERS;
    const text = this.#reasoning.join('');
    this.#forgetReasoning();
    if (!isWhole) return '';
    const detail = detailOf({ type: 'reasoning', text, seal }, this.#details);
    this.#details += 1;
    return this.#chunk({ reasoning_details: [detail] });
  }

  #keepReasoning(text: string): void {
    this.#reasoningCharacters += text.length;
    if (this.#reasoningCharacters <= MAX_SEALED_CHARACTERS) this.#reasoning.push(text);
    else this.#reasoning = [];
  }

  #forgetReasoning(): void {
    this.#reasoning = [];
    this.#reasoningCharacters = 0;
  }

  #chunk(delta: JsonObject, finish: string | null = null): string {
    return line({ ...this.#head, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] });
  }
}

/** The same as `write`, which is called once: what it writes around the text is used again. */
function repeated(write: (text: string) => string): (text: string) => string {
  const [before = '', after = ''] = write(MARK).split(JSON.stringify(MARK));
  return (text) => before + JSON.stringify(text) + after;
}

function line(data: JsonObject): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
