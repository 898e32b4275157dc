import type { JsonObject } from '../../wire/json.ts';
import { inAnthropicsWords, TOO_LONG_CODE } from '../peculiarities/context-length.ts';
import type { Usage } from '../protocol.ts';
import type { Stop } from '../translation/answer.ts';
import type { StreamError, StreamEvent, StreamWriter } from '../translation/stream-events.ts';
import type { TranslationNotes } from '../translation/translator.ts';
import { BlockQueue } from './block-queue.ts';
import { messageHead, writeStop, writeUsage } from './write-answer.ts';

// Blocks follow one another. A provider's calls may go on side by side: the first is passed on as it comes, what
// belongs to later blocks is kept until theirs begins.
const MAX_KEPT_BYTES = 8 * 1024 * 1024;

/** Writes a streamed message for a caller. */
export class MessagesStreamWriter implements StreamWriter {
  readonly #notes: TranslationNotes;
  readonly #blocks = new BlockQueue();
  #usage: Usage | undefined;
  #stop: Stop | undefined;
  error: string | undefined;

  constructor(notes: TranslationNotes) {
    this.#notes = notes;
  }

  get keptBytes(): number {
    return this.#blocks.keptBytes;
  }

  write(event: StreamEvent): string {
    if (this.error !== undefined) return '';
    switch (event.type) {
      case 'begin': {
        // The provider's own count comes with its last event, if at all.
        const usage = writeUsage({ promptTokens: this.#notes.promptTokens, completionTokens: 0 });
        const message = {
          ...messageHead(event, this.#notes),
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage,
        };
        return line('message_start', { message });
      }
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'finish':
        this.#stop = event.stop;
        return this.#blocks.end().map(written).join('');
      case 'error':
        return this.#fail(event.error);
      default: {
        const events = this.#blocks.add(event);
        if (this.#blocks.keptBytes <= MAX_KEPT_BYTES) return events.map(written).join('');
        return this.#fail({ message: 'The provider sent more at once than can be put in order.' });
      }
    }
  }

  end(): string {
    if (this.error !== undefined || !this.#stop) return '';
    const usage = this.#usage ?? { promptTokens: this.#notes.promptTokens, completionTokens: 0 };
    return (
      line('message_delta', { delta: writeStop(this.#stop), usage: writeUsage(usage) }) +
      line('message_stop', {})
    );
  }

  ping(): string {
    return line('ping', {});
  }

  #fail({ message, kind }: StreamError): string {
    this.error = message;
    const shown = kind === TOO_LONG_CODE ? inAnthropicsWords(message) : message;
    return line('error', { error: { type: typeOf(kind), message: shown } });
  }
}

/** Its own names of errors; OpenAI's that a client acts on are put in them. */
function typeOf(kind: string | undefined): string {
  return kind === undefined ? 'api_error' : (ERROR_TYPES.get(kind) ?? 'api_error');
}

const ERROR_TYPES: ReadonlyMap<string, string> = new Map([
  ...[
    'invalid_request_error',
    'authentication_error',
    'billing_error',
    'permission_error',
    'not_found_error',
    'request_too_large',
    'rate_limit_error',
    'timeout_error',
    'overloaded_error',
  ].map((type) => [type, type] as const),
  [TOO_LONG_CODE, 'invalid_request_error'],
  ['insufficient_quota', 'billing_error'],
  ['rate_limit_exceeded', 'rate_limit_error'],
  ['server_is_overloaded', 'overloaded_error'],
]);

function written(event: JsonObject): string {
  return `event: ${event['type']}\ndata: ${JSON.stringify(event)}\n\n`;
}

function line(type: string, data: JsonObject): string {
  return written({ type, ...data });
}
