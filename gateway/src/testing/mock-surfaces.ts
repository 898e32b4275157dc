import type { StatedProviderFlags, Surface } from '@gatehouse/contract';
import { event as messagesEvent, textMessage, textStream } from './mock-messages.ts';
import { chunk, completion, DONE, delta, usageOf } from './mock-provider.ts';
import {
  completed,
  messageEvents,
  messageItem,
  response,
  event as responsesEvent,
} from './mock-responses.ts';

// What every wire format has, each in its own words, for tests that go through all of them.

export interface MockSurface {
  /** The path where a caller finds it. */
  readonly path: string;
  /** The path where the provider has it. */
  readonly providerPath: string;
  readonly protocol: 'openai' | 'anthropic';
  readonly flags: StatedProviderFlags;
  /** A caller's body without its model; it names an output cap of 50. */
  readonly body: { readonly [name: string]: unknown };
  /** An answer, with this usage object where one is given. */
  whole(text: string, usage?: unknown): object;
  /** The same as a stream, up to its usage and its end. */
  stream(pieces: readonly string[], usage?: unknown): string[];
  usage(prompt: number, completion: number): object;
  /** One piece of text, as an event. */
  delta(text: string): string;
  /** The text that a caller reads out of an answer. */
  textOf(answer: unknown): string;
  /** The text that a caller reads out of a stream. */
  textOfStream(stream: string): string;
  /** How many events in the stream are there to keep it alive. */
  pingsIn(stream: string): number;
  /** The end of a whole stream. */
  readonly end: RegExp;
  /** The end of a stream that the gateway ends with an error. */
  readonly error: RegExp;
}

type Members = Record<string, never>;
const HI = [{ role: 'user', content: 'Hi' }];
const ids = { item_id: 'msg_1', output_index: 0, content_index: 0 };

export const MOCK_SURFACES: Readonly<Record<'chat' | 'messages' | 'responses', MockSurface>> = {
  chat: {
    path: '/v1/chat/completions',
    providerPath: '/v1/chat/completions',
    protocol: 'openai',
    flags: { surfaces: { chat: '/chat/completions' } },
    body: { messages: HI, max_completion_tokens: 50 },
    whole: (text, usage) => ({ ...completion(text), ...(usage !== undefined && { usage }) }),
    stream: (pieces, usage) => [
      ...pieces.map((piece) => chunk(delta(piece))),
      chunk(delta('', 'stop')),
      ...(usage === undefined ? [] : [chunk({ choices: [], usage })]),
      DONE,
    ],
    usage: (prompt, generated) => usageOf({ prompt, completion: generated }),
    delta: (text) => chunk(delta(text)),
    textOf: (answer) => (answer as { choices: Members[] }).choices[0]?.['message']?.['content'] ?? '',
    textOfStream: (stream) =>
      dataOf(stream)
        .map((one) => one['choices']?.[0]?.['delta']?.['content'] ?? '')
        .join(''),
    pingsIn: (stream) => stream.match(/^: /gm)?.length ?? 0,
    end: /data: \[DONE\]\n\n$/,
    error: /data: \{"error":\{"message":"[^\n]*\n\n$/,
  },
  messages: {
    path: '/v1/messages',
    providerPath: '/v1/messages',
    protocol: 'anthropic',
    flags: {},
    body: { messages: HI, max_tokens: 50 },
    whole: (text, usage) => ({ ...textMessage(text), ...(usage !== undefined && { usage }) }),
    stream: (pieces, usage = { input_tokens: 8, output_tokens: 1 }) =>
      textStream(pieces, { start: usage as object, end: usage as object }),
    usage: (prompt, generated) => ({ input_tokens: prompt, output_tokens: generated }),
    delta: (text) => messagesEvent('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    textOf: (answer) => (answer as { content: Members[] }).content[0]?.['text'] ?? '',
    textOfStream: (stream) =>
      dataOf(stream)
        .map((one) => (one['type'] === 'content_block_delta' ? (one['delta']?.['text'] ?? '') : ''))
        .join(''),
    pingsIn: (stream) => stream.match(/^event: ping$/gm)?.length ?? 0,
    end: /event: message_stop\ndata: \{"type":"message_stop"\}\n\n$/,
    error: /event: error\ndata: \{"type":"error","error":\{"type":"[a-z_]+","message":"[^\n]*\n\n$/,
  },
  responses: {
    path: '/v1/responses',
    providerPath: '/v1/responses',
    protocol: 'openai',
    flags: { surfaces: { responses: '/responses' } },
    body: { input: 'Hi', max_output_tokens: 50 },
    whole: (text, usage) => ({ ...response([messageItem(text)]), ...(usage !== undefined && { usage }) }),
    stream: (pieces, usage) => [
      ...messageEvents(...pieces),
      usage === undefined
        ? completed([messageItem(pieces.join(''))])
        : responsesEvent('response.completed', {
            response: { ...response([messageItem(pieces.join(''))]), usage },
          }),
    ],
    usage: (prompt, generated) => ({
      input_tokens: prompt,
      output_tokens: generated,
      total_tokens: prompt + generated,
    }),
    delta: (text) => responsesEvent('response.output_text.delta', { ...ids, delta: text }),
    textOf: (answer) => (answer as { output: Members[] }).output[0]?.['content']?.[0]?.['text'] ?? '',
    textOfStream: (stream) =>
      dataOf(stream)
        .map((one) => (one['type'] === 'response.output_text.delta' ? (one['delta'] ?? '') : ''))
        .join(''),
    // The first one is part of every stream.
    pingsIn: (stream) => (stream.match(/^event: response\.in_progress$/gm)?.length ?? 1) - 1,
    end: /event: response\.completed\ndata: [^\n]*\n\n$/,
    error: /event: (error|response\.failed)\ndata: [^\n]*\n\n$/,
  },
};

export const TRANSLATED: readonly (keyof typeof MOCK_SURFACES & Surface)[] = [
  'chat',
  'messages',
  'responses',
];

/** The data of the events, parsed; those that are no JSON are left out. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into what came.
function dataOf(stream: string): any[] {
  return [...stream.matchAll(/^data: (\{.*)$/gm)].map(([, json = '']) => JSON.parse(json));
}
