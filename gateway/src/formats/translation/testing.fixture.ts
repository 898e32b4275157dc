import type { Surface } from '@gatehouse/contract';
import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { openCallersStream } from '../formats.ts';
import type { CallersStream } from '../outgoing.ts';
import type { TranslationNotes, TranslationOptions } from './translator.ts';

/** The options of a test of translation, unless it sets others. */
export const OPTIONS: TranslationOptions = {
  keep: [],
  requestId: 'req_1',
  createdSeconds: 1_795_000_000,
  promptTokens: 42,
};

export function notesWith(members: Partial<TranslationNotes> = {}): TranslationNotes {
  return {
    model: 'm',
    requestId: 'req_1',
    createdSeconds: 1_795_000_000,
    promptTokens: 42,
    showsUsage: true,
    customTools: [],
    toolNames: {},
    ...members,
  };
}

/** The way of a provider's stream to a caller of another format. */
export function createStreamTranslator(from: Surface, to: Surface, notes: TranslationNotes) {
  const stream = openCallersStream(from, { to, notes }, { showsUsage: true, choices: 1 });
  return stream as CallersStream & Required<Pick<CallersStream, 'ping'>>;
}

/** Events of a stream as bytes: those of Anthropic's formats have names. */
export function streamOf(events: readonly unknown[]): Buffer {
  return Buffer.from(
    events
      .map((event) => {
        const type = isJsonObject(event) ? event['type'] : undefined;
        const name = typeof type === 'string' && !/[\r\n]/.test(type) ? `event: ${type}\n` : '';
        return `${name}data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`;
      })
      .join(''),
  );
}

/** The data of the events in these bytes, parsed; text where it is no JSON. */
export function eventsIn(bytes: Buffer): (JsonObject | string)[] {
  return bytes
    .toString()
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => {
      const data = event.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []));
      const text = data.join('\n');
      return text.startsWith('{') ? (JSON.parse(text) as JsonObject) : text || event;
    });
}

/** A chunk of a streamed chat completion. */
export function chunk(delta: object, finish: string | null = null): JsonObject {
  return { id: 'chatcmpl-1', created: 7, model: 'up', choices: [{ index: 0, delta, finish_reason: finish }] };
}

/** A piece of a tool call in a chunk. */
export function callChunk(index: number, members: object): JsonObject {
  return chunk({ tool_calls: [{ index, ...members }] });
}

/** The caller's view of a provider's whole stream. */
export function translatedStream(
  from: 'chat' | 'messages',
  to: 'chat' | 'messages',
  events: readonly unknown[],
  notes = {},
) {
  const translator = createStreamTranslator(from, to, notesWith(notes));
  const bytes = Buffer.concat([translator.push(streamOf(events)), translator.end()]);
  return eventsIn(bytes);
}

/** The events in short: type, index and what is in them. */
export function inShort(events: readonly (JsonObject | string)[]): string[] {
  return events.map((event) => {
    if (typeof event === 'string') return event;
    const { type, index = '', delta, content_block: block } = event as Record<string, never>;
    const content = (delta ?? block ?? {}) as Record<string, unknown>;
    const { text, thinking, partial_json, signature, data, name, stop_reason: stop } = content;
    const said = [text, thinking, partial_json, signature, data, name, stop].filter(
      (one) => one !== undefined,
    );
    return `${type} ${index} ${said.map((one) => JSON.stringify(one)).join(' ')}`.trim();
  });
}

/** The first chunk of a chat stream. */
export const begin = chunk({ role: 'assistant', content: '' });
