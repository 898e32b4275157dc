import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import OpenAI from 'openai';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import type { JsonObject } from '../../wire/json.ts';
import { sealToText } from '../translation/reasoning.ts';
import type { StreamEvent } from '../translation/stream-events.ts';
import type { TranslationNotes } from '../translation/translator.ts';
import { MAX_KEPT_CHARACTERS, ResponsesStreamWriter } from './stream-writer.ts';

const notes: TranslationNotes = {
  model: 'gpt-5-mini',
  requestId: '01a20367-7119-7dd2-8ab0-b5ac35d69db0',
  createdSeconds: 1_795_353_440,
  promptTokens: 7,
  showsUsage: true,
  customTools: [],
  toolNames: {},
  namespaces: { agents__close: { namespace: 'agents', name: 'close' } },
};
const ID = '01a2036771197dd28ab0b5ac35d69db0';
const begin: StreamEvent = { type: 'begin', id: 'chatcmpl-1', model: 'gpt-5-mini-2026' };
const usage: StreamEvent = {
  type: 'usage',
  usage: { promptTokens: 20, completionTokens: 9, cacheReadTokens: 5, reasoningTokens: 4 },
};
const stop: StreamEvent = { type: 'finish', stop: { reason: 'stop' } };
const say = (text: string): StreamEvent => ({ type: 'text', text });

function bytesOf(events: readonly StreamEvent[]): string {
  const writer = new ResponsesStreamWriter(notes);
  return events.map((event) => writer.write(event)).join('') + writer.end();
}

type Written = JsonObject & { readonly type: string };

/** The events in these bytes; each is named as its data says, and they are numbered from 0. */
function parse(bytes: string): Written[] {
  const events = bytes.split('\n\n');
  assert.equal(events.pop(), '');
  return events.map((event, index) => {
    const [name, data, ...others] = event.split('\n');
    assert.deepEqual(others, []);
    const value = JSON.parse((data as string).slice('data: '.length)) as Written;
    assert.equal(name, `event: ${value.type}`);
    assert.equal(value['sequence_number'], index);
    return value;
  });
}

function written(...events: StreamEvent[]): Written[] {
  return parse(bytesOf(events));
}

const typesOf = (events: readonly Written[]) => events.map(({ type }) => type.replace('response.', ''));
const responseOf = (event: Written | undefined) => event?.['response'] as JsonObject;
const outputOf = (events: readonly Written[]) => responseOf(events.at(-1))['output'] as JsonObject[];

describe('ResponsesStreamWriter', () => {
  it('writes text', () => {
    const events = written(begin, say('Hé'), say('☕'), stop, usage);
    assert.deepEqual(typesOf(events), [
      ...['created', 'in_progress', 'output_item.added', 'content_part.added'],
      ...['output_text.delta', 'output_text.delta', 'output_text.done', 'content_part.done'],
      ...['output_item.done', 'completed'],
    ]);
    const place = { item_id: `msg_${ID}_0`, output_index: 0, content_index: 0 };
    const part = { type: 'output_text', text: 'Hé☕', annotations: [], logprobs: [] };
    const item = {
      id: `msg_${ID}_0`,
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [part],
    };
    assert.deepEqual(events.slice(2, 9), [
      {
        type: 'response.output_item.added',
        sequence_number: 2,
        output_index: 0,
        item: { ...item, status: 'in_progress', content: [] },
      },
      {
        type: 'response.content_part.added',
        sequence_number: 3,
        ...place,
        part: { ...part, text: '' },
      },
      { type: 'response.output_text.delta', sequence_number: 4, ...place, delta: 'Hé', logprobs: [] },
      { type: 'response.output_text.delta', sequence_number: 5, ...place, delta: '☕', logprobs: [] },
      { type: 'response.output_text.done', sequence_number: 6, ...place, text: 'Hé☕', logprobs: [] },
      { type: 'response.content_part.done', sequence_number: 7, ...place, part },
      { type: 'response.output_item.done', sequence_number: 8, output_index: 0, item },
    ]);
    const created = responseOf(events[0]);
    assert.equal(created['id'], `resp_${ID}`);
    assert.equal(created['status'], 'in_progress');
    assert.equal(created['store'], false);
    assert.equal(created['model'], 'gpt-5-mini-2026');
    const completed = responseOf(events.at(-1));
    assert.deepEqual(completed['output'], [item]);
    assert.deepEqual(completed['usage'], {
      input_tokens: 20,
      input_tokens_details: { cached_tokens: 5 },
      output_tokens: 9,
      output_tokens_details: { reasoning_tokens: 4 },
      total_tokens: 29,
    });
    assert.equal(completed['id'], created['id']);
    assert.equal(completed['created_at'], notes.createdSeconds);
  });

  it('writes reasoning with its seal, and text after it', () => {
    const seal = { kind: 'signature', value: 'EqQB' } as const;
    const thought = (text: string): StreamEvent => ({ type: 'reasoning', text });
    const events = written(begin, thought('I '), thought('think.'), { type: 'seal', seal }, say('Hi'), stop);
    assert.deepEqual(typesOf(events).slice(2, 9), [
      ...['output_item.added', 'reasoning_summary_part.added', 'reasoning_summary_text.delta'],
      ...['reasoning_summary_text.delta', 'reasoning_summary_text.done', 'reasoning_summary_part.done'],
      'output_item.done',
    ]);
    const [reasoning, message] = outputOf(events);
    assert.deepEqual(reasoning, {
      id: `rs_${ID}_0`,
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'I think.' }],
      encrypted_content: sealToText(seal),
    });
    assert.equal(message?.['id'], `msg_${ID}_1`);
    assert.equal(events.find(({ type }) => type === 'response.output_text.delta')?.['output_index'], 1);
  });

  it('writes a seal without reasoning as an item of its own', () => {
    const seal = { kind: 'redacted', value: 'x' } as const;
    const events = written(begin, { type: 'seal', seal }, stop);
    assert.deepEqual(typesOf(events).slice(2, -1), ['output_item.added', 'output_item.done']);
    assert.deepEqual(outputOf(events)[0]?.['summary'], []);
  });

  it('writes parallel calls of functions and custom tools, split anywhere', () => {
    const call = (index: number, kind: 'function' | 'custom', name: string): StreamEvent => ({
      type: 'toolCall',
      index,
      id: `call_${index}`,
      kind,
      name,
    });
    const more = (index: number, text: string): StreamEvent => ({ type: 'toolArguments', index, text });
    const events = written(
      begin,
      say('Look: '),
      call(0, 'function', 'exec'),
      more(0, '{"cmd"'),
      call(1, 'custom', 'apply_patch'),
      more(1, '*** Begin'),
      more(0, ':"ls"}'),
      { type: 'toolCallEnd', index: 1 },
      call(2, 'function', 'agents__close'),
      { type: 'finish', stop: { reason: 'toolCalls' } },
      usage,
    );
    assert.deepEqual(outputOf(events).slice(1), [
      {
        id: `fc_${ID}_1`,
        type: 'function_call',
        status: 'completed',
        call_id: 'call_0',
        name: 'exec',
        arguments: '{"cmd":"ls"}',
      },
      {
        id: `ctc_${ID}_2`,
        type: 'custom_tool_call',
        status: 'completed',
        call_id: 'call_1',
        name: 'apply_patch',
        input: '*** Begin',
      },
      {
        id: `fc_${ID}_3`,
        type: 'function_call',
        status: 'completed',
        call_id: 'call_2',
        name: 'close',
        namespace: 'agents',
        arguments: '',
      },
    ]);
    const custom = events.filter(({ type }) => type.startsWith('response.custom_tool_call_input'));
    const at = { item_id: `ctc_${ID}_2`, output_index: 2 };
    assert.deepEqual(
      custom.map(({ sequence_number: _, ...event }) => event),
      [
        { type: 'response.custom_tool_call_input.delta', ...at, delta: '*** Begin' },
        { type: 'response.custom_tool_call_input.done', ...at, input: '*** Begin' },
      ],
    );
    const added = events.filter(({ type }) => type === 'response.output_item.added');
    assert.deepEqual(
      added.map((event) => [event['output_index'], (event['item'] as JsonObject)['status']]),
      [0, 1, 2, 3].map((index) => [index, 'in_progress']),
    );
    assert.equal(events.filter(({ type }) => type === 'response.output_item.done').length, 4);
  });

  it('writes a refusal, and text after a break as another message', () => {
    const events = written(begin, say('A'), { type: 'break' }, { type: 'refusal', text: 'No.' }, stop);
    assert.deepEqual(
      outputOf(events).map(({ content }) => content),
      [
        [{ type: 'output_text', text: 'A', annotations: [], logprobs: [] }],
        [{ type: 'refusal', refusal: 'No.' }],
      ],
    );
    assert.deepEqual(typesOf(events).slice(7, 14), [
      ...['output_item.done', 'output_item.added', 'content_part.added'],
      ...['refusal.delta', 'refusal.done', 'content_part.done', 'output_item.done'],
    ]);
  });

  for (const [reason, type, details] of [
    ['length', 'response.incomplete', { reason: 'max_output_tokens' }],
    ['contextWindow', 'response.incomplete', { reason: 'max_output_tokens' }],
    ['contentFilter', 'response.incomplete', { reason: 'content_filter' }],
    ['refusal', 'response.incomplete', { reason: 'content_filter' }],
    ['stopSequence', 'response.completed', null],
    ['pause', 'response.completed', null],
  ] as const) {
    it(`ends with ${type} when the model stopped for ${reason}`, () => {
      const events = written(begin, say('Hi'), { type: 'finish', stop: { reason } }, usage);
      assert.equal(events.at(-1)?.type, type);
      const response = responseOf(events.at(-1));
      assert.deepEqual(response['incomplete_details'], details);
      const status = type === 'response.completed' ? 'completed' : 'incomplete';
      assert.equal(response['status'], status);
      assert.equal(outputOf(events)[0]?.['status'], status);
      assert.notEqual(response['usage'], null);
    });
  }

  for (const [text, reason, status] of [
    ['{"a":', 'length', 'incomplete'],
    ['{"a":', 'stop', 'completed'],
    ['{"a":1}', 'length', 'completed'],
  ] as const) {
    it(`ends a call with the arguments ${text} as ${status} where the model stopped for ${reason}`, () => {
      const events = written(
        begin,
        { type: 'toolCall', index: 0, id: 'a', kind: 'function', name: 'f' },
        { type: 'toolArguments', index: 0, text },
        { type: 'toolCallEnd', index: 0 },
        { type: 'finish', stop: { reason } },
      );
      const done = events.filter(({ type }) => type === 'response.output_item.done');
      assert.deepEqual(
        done.map(({ item }) => (item as JsonObject)['status']),
        [status],
      );
      assert.equal(outputOf(events)[0]?.['status'], status);
    });
  }

  it('states the prompt as it was counted here where the provider states no usage', () => {
    const response = responseOf(written(begin, say('Hi'), stop).at(-1));
    assert.deepEqual(response['usage'], {
      input_tokens: 7,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 0,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 7,
    });
  });

  it('says an error as SDKs and as Codex read it, and nothing after it', () => {
    const writer = new ResponsesStreamWriter(notes);
    const bytes =
      writer.write(begin) +
      writer.write(say('Hi')) +
      writer.write({ type: 'error', error: { message: 'Overloaded', kind: 'overloaded_error' } });
    assert.equal(writer.write(say('more')) + writer.end() + writer.ping(), '');
    const [error, failed] = parse(bytes).slice(-2);
    assert.deepEqual(
      { ...error, sequence_number: 0 },
      { type: 'error', sequence_number: 0, code: 'overloaded_error', message: 'Overloaded', param: null },
    );
    assert.equal(failed?.type, 'response.failed');
    assert.equal(responseOf(failed)['status'], 'failed');
    assert.deepEqual(responseOf(failed)['error'], { code: 'overloaded_error', message: 'Overloaded' });
  });

  it('ends nothing where no finish came: that is for the gateway to say', () => {
    assert.deepEqual(typesOf(written(begin, say('Hi'))).slice(-1), ['output_text.delta']);
    assert.deepEqual(written(), []);
  });

  it('keeps a silent stream alive with an event that says nothing new, before the first one too', () => {
    const writer = new ResponsesStreamWriter(notes);
    const bytes = writer.ping() + writer.ping() + writer.write(begin) + writer.write(stop) + writer.end();
    assert.deepEqual(typesOf(parse(bytes)), ['created', 'in_progress', 'in_progress', 'completed']);
  });

  it('fails an answer that is too long to be repeated at its end', () => {
    const writer = new ResponsesStreamWriter(notes);
    writer.write(begin);
    const part = say('a'.repeat(MAX_KEPT_CHARACTERS / 4));
    let bytes = '';
    let most = 0;
    for (let times = 0; times < 8; times += 1) {
      bytes = writer.write(part);
      most = Math.max(most, writer.keptBytes);
      if (bytes.includes('response.failed')) break;
    }
    assert.match(bytes, /longer than 2097152 characters/);
    assert.ok(most >= MAX_KEPT_CHARACTERS && most < 4 * MAX_KEPT_CHARACTERS);
    assert.equal(writer.write(part) + writer.end(), '');
  });

  it('counts items, so that many small ones are too much as well', () => {
    const writer = new ResponsesStreamWriter(notes);
    writer.write(begin);
    let bytes = '';
    for (let index = 0; index < 3_000 && !bytes.includes('response.failed'); index += 1) {
      bytes = writer.write(say('a')) + writer.write({ type: 'break' });
    }
    assert.match(bytes, /response\.failed/);
  });

  it('passes over arguments and ends of calls that never began', () => {
    const events = written(
      begin,
      { type: 'toolArguments', index: 9, text: '{}' },
      { type: 'toolCallEnd', index: 9 },
      stop,
    );
    assert.deepEqual(outputOf(events), []);
  });
});

describe('the OpenAI package', () => {
  /** The package's own client, to which these bytes are the answer. */
  function clientFor(bytes: string): OpenAI {
    const headers = { 'content-type': 'text/event-stream' };
    return new OpenAI({
      apiKey: 'sk',
      baseURL: 'http://gateway.invalid/v1',
      maxRetries: 0,
      fetch: async () => new Response(bytes, { headers }),
    });
  }

  it('reads a written stream to the answer that its last event has', async () => {
    const bytes = bytesOf([
      begin,
      { type: 'reasoning', text: 'I think.' },
      say('Hello'),
      { type: 'toolCall', index: 0, id: 'call_0', kind: 'function', name: 'f' },
      { type: 'toolArguments', index: 0, text: '{"a":' },
      { type: 'toolArguments', index: 0, text: '1}' },
      { type: 'toolCall', index: 1, id: 'call_1', kind: 'custom', name: 'c' },
      { type: 'toolArguments', index: 1, text: 'plain' },
      { type: 'finish', stop: { reason: 'toolCalls' } },
      usage,
    ]);
    const stream = clientFor(bytes).responses.stream({ model: 'm', input: 'Hi' });
    const deltas: string[] = [];
    stream.on('response.output_text.delta', ({ delta }) => deltas.push(delta));
    const response = await stream.finalResponse();
    assert.deepEqual(deltas, ['Hello']);
    assert.equal(response.output_text, 'Hello');
    assert.deepEqual(
      response.output.map((item) => item.type),
      ['reasoning', 'message', 'function_call', 'custom_tool_call'],
    );
    assert.equal(response.usage?.total_tokens, 29);
  });

  it('throws at a written error, with its message', async () => {
    const bytes = bytesOf([begin, say('Hi'), { type: 'error', error: { message: 'Overloaded' } }]);
    const stream = await clientFor(bytes).responses.create({ model: 'm', input: 'Hi', stream: true });
    const read: ResponseStreamEvent[] = [];
    await assert.rejects(async () => {
      for await (const event of stream) read.push(event);
    }, /Overloaded/);
    assert.ok(read.length > 0);
  });
});
