import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { claudeCodeBody, codexBody } from '@gatehouse/gateway/testing';

// What a provider's stream takes of the main thread, from the provider's bytes to the caller's, natively and translated, and
// what the translation of a request takes. Beside it a reference: the same bytes cut at their blank lines, and each event
// parsed; of a request, its body parsed and written. Several checkouts are measured alternately in one run; the last column is
// the last checkout's time to the first one's.
//
//   node bench/translate.ts [--events 50] [--per-packet 10] [--streams 2000] [--rounds 7] [CHECKOUT...]

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    events: { type: 'string', default: '50' },
    'per-packet': { type: 'string', default: '10' },
    streams: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '7' },
  },
});
const events = Number(options.events);
const perPacket = Number(options['per-packet']);
const streams = Number(options.streams);
const rounds = Number(options.rounds);
const root = join(import.meta.dirname, '..');
const checkouts = positionals.length === 0 ? [root] : positionals.map((path) => resolve(path));

const FORMATS = ['chat', 'messages', 'responses'] as const;
type Format = (typeof FORMATS)[number];
type Event = Readonly<Record<string, unknown>>;

interface Reading {
  readonly hasContent: boolean;
  readonly isComplete: boolean;
  push(chunk: Buffer): Buffer;
  end(): Buffer;
}

interface Gateway {
  openCallersStream(from: Format, translation: object | undefined, options: object): Reading;
  translateCall(
    bytes: Buffer,
    translation: object,
  ): { readonly result: { readonly kind: string }; readonly body: Buffer };
}

const TEXTS = Array.from({ length: events }, (_, index) => ` word${index % 7}`);

function chatEvents(): readonly string[] {
  const head = {
    id: 'chatcmpl-abc',
    object: 'chat.completion.chunk',
    created: 1_790_000_000,
    model: 'model-1',
  };
  const chunk = (delta: Event, finish: string | null = null) =>
    `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], usage: null })}\n\n`;
  const usage = { prompt_tokens: 12, completion_tokens: events, total_tokens: 12 + events };
  return [
    chunk({ role: 'assistant', content: '' }),
    ...TEXTS.map((content) => chunk({ content })),
    chunk({}, 'stop'),
    `data: ${JSON.stringify({ ...head, choices: [], usage })}\n\n`,
    'data: [DONE]\n\n',
  ];
}

function named(list: readonly (Event & { readonly type: string })[]): readonly string[] {
  return list.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

function messagesEvents(): readonly string[] {
  const usage = { input_tokens: 12, output_tokens: 1 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'model-1', content: [], usage };
  const block = { index: 0, content_block: { type: 'text', text: '' } };
  const delta = { stop_reason: 'end_turn', stop_sequence: null };
  return named([
    { type: 'message_start', message },
    { type: 'content_block_start', ...block },
    ...TEXTS.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta, usage: { output_tokens: events } },
    { type: 'message_stop' },
  ]);
}

function responsesEvents(): readonly string[] {
  const response = {
    id: 'resp_1',
    object: 'response',
    created_at: 1_790_000_000,
    model: 'model-1',
    output: [],
  };
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const text = TEXTS.join('');
  const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' };
  const done = { ...item, content: [{ type: 'output_text', text, annotations: [] }] };
  const usage = { input_tokens: 12, output_tokens: events, total_tokens: 12 + events };
  return named(
    [
      { type: 'response.created', response: { ...response, status: 'in_progress' } },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
      { type: 'response.content_part.added', ...place, part: { type: 'output_text', text: '' } },
      ...TEXTS.map((delta) => ({ type: 'response.output_text.delta', ...place, delta, logprobs: [] })),
      { type: 'response.output_text.done', ...place, text },
      { type: 'response.output_item.done', output_index: 0, item: done },
      { type: 'response.completed', response: { ...response, status: 'completed', output: [done], usage } },
    ].map((event, sequence_number) => ({ ...event, sequence_number })),
  );
}

const STREAMS: Readonly<Record<Format, readonly string[]>> = {
  chat: chatEvents(),
  messages: messagesEvents(),
  responses: responsesEvents(),
};

function packetsOf(list: readonly string[]): readonly Buffer[] {
  const packets: Buffer[] = [];
  for (let at = 0; at < list.length; at += perPacket) {
    packets.push(Buffer.from(list.slice(at, at + perPacket).join('')));
  }
  return packets;
}

async function load(checkout: string): Promise<Gateway> {
  const folder = ['formats', 'protocols'].map((name) => join(checkout, 'gateway/src', name)).find(existsSync);
  if (folder === undefined) throw new Error(`${checkout} is no checkout of this project`);
  const streams = ['callers-stream.ts', 'formats.ts'].map((name) => join(folder, name)).find(existsSync);
  const { openCallersStream } = await import(streams ?? folder);
  const { translateCall } = await import(join(folder, 'translate-call.ts'));
  return { openCallersStream, translateCall };
}

function notesOf(requestId: string): object {
  const facts = { model: 'route/model', requestId, createdSeconds: 1_790_000_000, promptTokens: 12 };
  return { ...facts, showsUsage: true, customTools: [], toolNames: {}, echo: '{}' };
}

/** One stream, from the first packet to the last byte for the caller. */
function pass({ openCallersStream }: Gateway, from: Format, to: Format, packets: readonly Buffer[]): number {
  const translation = from === to ? undefined : { to, notes: notesOf('req_1') };
  const reading = openCallersStream(from, translation, { showsUsage: false, choices: 1 });
  let bytes = 0;
  for (const packet of packets) bytes += reading.push(packet).length;
  bytes += reading.end().length;
  if (!reading.isComplete || !reading.hasContent) throw new Error(`${from} to ${to} was not read`);
  return bytes;
}

const CHAT_BODY = JSON.stringify({
  ...{ model: 'route/model', max_tokens: 100, temperature: 0.5 },
  messages: Array.from({ length: 20 }, (_, turn) => ({
    role: turn % 2 === 0 ? 'user' : 'assistant',
    content: `Turn ${turn}: ${'some words '.repeat(40)}`,
  })),
});
const BODIES: Readonly<Record<Format, string>> = {
  chat: CHAT_BODY,
  messages: claudeCodeBody({ model: 'route/model', stream: false }),
  responses: codexBody('route/model'),
};

/** One request, from the caller's bytes to the provider's. */
function translate({ translateCall }: Gateway, from: Format, to: Format, bytes: Buffer): number {
  const facts = { requestId: 'req_1', createdSeconds: 1_790_000_000, promptTokens: 12 };
  const { result, body } = translateCall(bytes, { from, to, options: { keep: [], ...facts } });
  if (result.kind !== 'translated') throw new Error(`${from} to ${to} was refused`);
  return body.length;
}

function parseAll(packets: readonly Buffer[]): number {
  let values = 0;
  for (const packet of packets) {
    for (const event of packet.toString().split('\n\n')) {
      const data = event.slice(event.indexOf('data: ') + 6);
      if (data !== '' && data !== '[DONE]' && JSON.parse(data)) values += 1;
    }
  }
  return values;
}

/** Microseconds of one run. */
function timed(run: () => number): number {
  const start = process.hrtime.bigint();
  for (let count = 0; count < streams; count += 1) run();
  return Number(process.hrtime.bigint() - start) / 1_000 / streams;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const gateways = await Promise.all(checkouts.map(load));
const rows = FORMATS.flatMap((from) =>
  FORMATS.map((to) => ({ from, to, packets: packetsOf(STREAMS[from]) })),
);
const subjects = rows.map(({ from, to, packets }) => ({
  name: from === to ? `${from}, native` : `${from} to ${to}`,
  runs: [() => parseAll(packets), ...gateways.map((gateway) => () => pass(gateway, from, to, packets))],
}));
const requests = FORMATS.flatMap((from) =>
  FORMATS.filter((to) => to !== from).map((to) => ({ from, to, bytes: Buffer.from(BODIES[from]) })),
).map(({ from, to, bytes }) => ({
  name: `request, ${from} to ${to}`,
  runs: [
    () => JSON.stringify(JSON.parse(bytes.toString())).length,
    ...gateways.map((gateway) => () => translate(gateway, from, to, bytes)),
  ],
}));
print(`${events} events, ${perPacket} a packet; µs a stream or a request, medians of ${rounds} rounds`);
for (const { name, runs } of [...subjects, ...requests]) {
  const taken = runs.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, run] of runs.entries()) taken[index]?.push(timed(run));
  }
  const [reference = 0, ...micros] = taken.map(median);
  const columns = micros.map((one) => `${one.toFixed(1)} (${(one / reference).toFixed(2)})`);
  const change = ((micros.at(-1) ?? 0) / (micros[0] ?? 1)).toFixed(2);
  print([name.padEnd(32), `parsed ${reference.toFixed(1)}`, ...columns, change].join('   '));
}
