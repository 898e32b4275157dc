import assert from 'node:assert/strict';
import type { Surface } from '@gatehouse/contract';
import type { JsonObject } from '../../wire/json.ts';
import { type TranslationNotes, translateRequest } from '../translation/index.ts';
import { createStreamTranslator } from '../translation/testing.fixture.ts';

export const OPTIONS = {
  keep: [],
  requestId: '01a20367-7119-7dd2-8ab0-b5ac35d69db0',
  createdSeconds: 1_795_353_440,
  promptTokens: 7,
};
/** The part that ids made from the request's have in common. */
export const ID = '01a2036771197dd28ab0b5ac35d69db0';

export function notesOf(caller: Surface, provider: Surface, body: JsonObject): TranslationNotes {
  return translateRequest(caller, provider, body, OPTIONS).notes;
}

export interface Translated {
  readonly bytes: string;
  readonly events: readonly JsonObject[];
}

/**
 * The provider's stream in the caller's format. It is translated in one piece, and in two with the border at every byte,
 * which must all come to the same.
 */
export function translateStream(
  caller: Surface,
  provider: Surface,
  body: JsonObject,
  stream: string,
): Translated {
  const notes = notesOf(caller, provider, body);
  const input = Buffer.from(stream);
  const pass = (border: number) => {
    const translator = createStreamTranslator(provider, caller, notes);
    const parts = [input.subarray(0, border), input.subarray(border)].map((part) => translator.push(part));
    return Buffer.concat([...parts, translator.end()]).toString();
  };
  const bytes = pass(0);
  for (let border = 1; border < input.length; border += 1) assert.equal(pass(border), bytes);
  return { bytes, events: eventsOf(bytes) };
}

/** The data of the events, without the end mark of chat. */
function eventsOf(bytes: string): JsonObject[] {
  return bytes
    .split('\n\n')
    .flatMap((event) => event.split('\n').filter((line) => line.startsWith('data: {')))
    .map((line) => JSON.parse(line.slice('data: '.length)) as JsonObject);
}

/** A stream of chat: each of these deltas, with why it ended in the last chunk. */
export function chatStream(deltas: readonly JsonObject[], finish?: string, usage?: JsonObject): string {
  const chunk = (choices: readonly JsonObject[], members: JsonObject = {}) =>
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 7, model: 'm-2026', choices, ...members })}\n\n`;
  return [
    ...deltas.map((delta) => chunk([{ index: 0, delta, finish_reason: null }])),
    ...(finish === undefined ? [] : [chunk([{ index: 0, delta: {}, finish_reason: finish }])]),
    ...(usage ? [chunk([], { usage })] : []),
    ...(finish === undefined ? [] : ['data: [DONE]\n\n']),
  ].join('');
}

/** A stream whose events have names: of messages or of responses. */
export function namedStream(events: readonly (JsonObject & { readonly type: string })[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}
