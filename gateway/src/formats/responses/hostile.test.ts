import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { casesOf } from '@gatehouse/concurrency/testing';
import { isJsonObject } from '../../wire/json.ts';
import { BodyError } from '../call.ts';
import { translateAnswer, translateRequest } from '../translation/index.ts';
import { createStreamTranslator } from '../translation/testing.fixture.ts';
import { CODEX_FIRST, CODEX_INPUT_TOOLS, CODEX_LATER } from './codex-body.fixture.ts';
import { chatStream, notesOf, OPTIONS } from './translated-stream.fixture.ts';

// Whatever a caller or a provider sends is translated, refused by name, or passed over. Nothing throws another error.

const { seed: SEED, count: ROUNDS } = casesOf(7, 1_500);

/** The same numbers on every run, from 0 to 1. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const JUNK: readonly unknown[] = [
  null,
  true,
  -1,
  1e308,
  '',
  'x',
  '__proto__',
  'function',
  'input_image',
  'reasoning',
  'gatehouse.v1.e30',
  '\ud800',
  [],
  [null],
  [[]],
  {},
  { type: 'function' },
  { type: 'message' },
  { type: 'namespace', tools: [{}] },
  { constructor: 1, toString: null },
  'data:image/png;base64,',
];

/** The value with one of its values, chosen at random, replaced by junk, left out, or there twice. */
function damage(value: unknown, next: () => number): unknown {
  const junk = () => structuredClone(JUNK[Math.floor(next() * JUNK.length)]);
  if (typeof value !== 'object' || value === null || next() < 0.05) return junk();
  const names = Object.keys(value);
  const name = names[Math.floor(next() * names.length)];
  if (name === undefined) return junk();
  if (Array.isArray(value)) {
    const index = Number(name);
    const chosen = damage(value[index], next);
    const rest = value.toSpliced(index, 1);
    return [rest, value.with(index, chosen), [...value, chosen]][Math.floor(next() * 3)];
  }
  const { [name]: chosen, ...rest } = value as { [name: string]: unknown };
  return next() < 0.2 ? rest : { ...rest, [name]: damage(chosen, next) };
}

function asObject(value: unknown): { [name: string]: unknown } {
  return { ...(value as object) };
}

describe('hostile requests', () => {
  for (const to of ['chat', 'messages'] as const) {
    it(`are translated to ${to}, or refused by name`, () => {
      const next = numbersFrom(SEED);
      let refused = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        let body: unknown = [CODEX_FIRST, CODEX_LATER, CODEX_INPUT_TOOLS][round % 3];
        for (let times = 0; times <= next() * 3; times += 1) body = damage(body, next);
        try {
          const { body: written, dropped } = translateRequest('responses', to, asObject(body), OPTIONS);
          assert.ok(dropped.length <= 33);
          JSON.stringify(written);
        } catch (error) {
          assert.ok(error instanceof BodyError, `${JSON.stringify(body)}: ${(error as Error).stack}`);
          assert.equal(error.issue.status, 400);
          assert.ok(error.issue.param, error.message);
          refused += 1;
        }
      }
      assert.ok(refused > ROUNDS / 10 && refused < ROUNDS);
    });
  }
});

const message = {
  type: 'message',
  id: 'm',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Hi' }],
};
const call = { type: 'function_call', id: 'f', call_id: 'c', name: 'f', arguments: '{"a":1}' };
const thought = {
  type: 'reasoning',
  id: 'r',
  summary: [{ type: 'summary_text', text: 'Hm.' }],
  encrypted_content: 'gAAAA',
};
const RESPONSE = {
  id: 'resp_1',
  created_at: 7,
  model: 'm',
  status: 'completed',
  output: [thought, message, call, { ...call, type: 'custom_tool_call', input: 'x' }],
  usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
};
const done = (index: number, item: object) => ({
  type: 'response.output_item.done',
  output_index: index,
  item,
});
const EVENTS = [
  { type: 'response.created', response: { ...RESPONSE, status: 'in_progress', output: [] } },
  { type: 'response.output_item.added', output_index: 0, item: thought },
  { type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 0, delta: 'Hm.' },
  done(0, thought),
  { type: 'response.output_text.delta', output_index: 1, content_index: 0, delta: 'Hi' },
  done(1, message),
  { type: 'response.output_item.added', output_index: 2, item: { ...call, arguments: '' } },
  { type: 'response.function_call_arguments.delta', output_index: 2, delta: '{"a":1}' },
  done(2, call),
  { type: 'response.completed', response: RESPONSE },
];

describe('hostile answers of a provider of responses', () => {
  for (const to of ['chat', 'messages'] as const) {
    const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] };
    const notes = notesOf(to, 'responses', body);

    it(`become answers in ${to}, or none`, () => {
      const next = numbersFrom(SEED + 1);
      for (let round = 0; round < ROUNDS; round += 1) {
        const answer = damage(damage(RESPONSE, next), next);
        if (isJsonObject(answer)) JSON.stringify(translateAnswer('responses', to, answer, notes));
      }
    });

    it(`become streams of ${to}, whatever their events are and in whatever order`, () => {
      const next = numbersFrom(SEED + 2);
      for (let round = 0; round < ROUNDS; round += 1) {
        const events = EVENTS.map((event) => (next() < 0.3 ? damage(event, next) : event));
        const at = Math.floor(next() * events.length);
        const mixed = [...events.slice(at), ...events.slice(0, next() < 0.5 ? at : events.length)];
        const translator = createStreamTranslator('responses', to, notes);
        const bytes = mixed.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
        translator.push(Buffer.from(bytes));
        translator.end();
        assert.ok(translator.keptBytes < 1024 * 1024);
      }
    });
  }
});

describe('hostile streams to Codex', () => {
  it('become responses whose events are numbered and whose items begin before they end', () => {
    const notes = notesOf('responses', 'chat', CODEX_LATER);
    const next = numbersFrom(SEED + 3);
    const calls = [0, 1, 2].map((index) => ({
      tool_calls: [
        {
          index,
          id: `call_${index}`,
          type: 'function',
          function: { name: 'apply_patch', arguments: '{"in' },
        },
      ],
    }));
    const deltas = [{ reasoning_content: 'Hm.' }, { content: 'Hi' }, ...calls, { refusal: 'No.' }];
    for (let round = 0; round < ROUNDS; round += 1) {
      const mixed = deltas
        .flatMap((delta) => (next() < 0.3 ? [asObject(damage(delta, next)), delta] : [delta]))
        .toSorted(() => next() - 0.5);
      const translator = createStreamTranslator('chat', 'responses', notes);
      const stream = Buffer.from(chatStream(mixed, 'stop'));
      const bytes = Buffer.concat([translator.push(stream), translator.end()]).toString();
      const events = bytes
        .split('\n\n')
        .filter((event) => event !== '')
        .map((event) => JSON.parse(event.slice(event.indexOf('data: ') + 6)));
      const open = new Set<number>();
      events.forEach((event, index) => {
        assert.equal(event.sequence_number, index);
        if (event.type === 'response.output_item.added') open.add(event.output_index);
        else if ('output_index' in event) assert.ok(open.has(event.output_index), event.type);
        if (event.type === 'response.output_item.done') open.delete(event.output_index);
      });
      assert.equal(open.size, 0);
      assert.ok(['response.completed', 'response.failed'].includes(events.at(-1).type));
    }
  });
});
