import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { AnswerTally } from '../answer-tally.ts';
import type { StreamEvent } from '../translation/stream-events.ts';
import { createStreamTranslator, notesWith, streamOf } from '../translation/testing.fixture.ts';
import { MAX_ITEMS } from './items.ts';
import { ResponsesReader } from './read-stream.ts';

const response = (members: JsonObject = {}) => ({
  id: 'resp_1',
  created_at: 7,
  model: 'gpt-5-mini-2026',
  status: 'completed',
  output: [],
  service_tier: 'default',
  ...members,
});
const usage = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 5 },
  output_tokens: 9,
  output_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 29,
};
const created = { type: 'response.created', response: response({ status: 'in_progress' }) };
const completed = { type: 'response.completed', response: response({ usage }) };
const begin = {
  type: 'begin',
  id: 'resp_1',
  model: 'gpt-5-mini-2026',
  createdSeconds: 7,
  serviceTier: 'default',
};
const ended = (reason: string) => [
  { type: 'finish', stop: { reason } },
  {
    type: 'usage',
    usage: { promptTokens: 20, completionTokens: 9, cacheReadTokens: 5, reasoningTokens: 4 },
  },
];

const unread = () => assert.fail('no number is in an object');

/** Reads events one by one, each into neutral ones. */
function openReader() {
  let told: StreamEvent[] = [];
  const reader = new ResponsesReader(new AnswerTally(), {
    notes: notesWith(),
    add: (event) => told.push(event),
  });
  const read = (data: unknown, { name = '', exact = unread as () => JsonObject } = {}) => {
    told = [];
    const text = `${name && `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
    const value = isJsonObject(data) ? data : undefined;
    reader.read({ bytes: Buffer.from(text), text, data: JSON.stringify(data), value, exact });
    return told;
  };
  return { reader, read };
}

function read(...events: readonly unknown[]): StreamEvent[] {
  const { read: readOne } = openReader();
  return events.flatMap((event) => readOne(event));
}

const item = (index: number, value: JsonObject) => ({
  type: 'response.output_item.added',
  output_index: index,
  item: value,
});
const done = (index: number, value: JsonObject) => ({
  ...item(index, value),
  type: 'response.output_item.done',
});
const delta = (type: string, index: number, text: string, members: JsonObject = {}) => ({
  type: `response.${type}.delta`,
  output_index: index,
  delta: text,
  ...members,
});
const message = (...content: JsonObject[]) => ({ type: 'message', id: 'msg_1', role: 'assistant', content });
const call = (members: JsonObject = {}) => ({
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'f',
  arguments: '',
  ...members,
});

describe('the neutral events of responses', () => {
  it('reads reasoning, text and parallel calls as OpenAI streams them', () => {
    const reasoning = { type: 'reasoning', id: 'rs_1', summary: [] };
    const summary = [
      { type: 'summary_text', text: 'One.' },
      { type: 'summary_text', text: 'Two.' },
    ];
    const custom = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_2', name: 'c', input: '' };
    assert.deepEqual(
      read(
        created,
        { type: 'response.in_progress', response: response() },
        item(0, reasoning),
        { type: 'response.reasoning_summary_part.added', output_index: 0, summary_index: 0 },
        delta('reasoning_summary_text', 0, 'One.', { summary_index: 0 }),
        { type: 'response.reasoning_summary_text.done', output_index: 0, summary_index: 0, text: 'One.' },
        delta('reasoning_summary_text', 0, 'Two.', { summary_index: 1 }),
        done(0, { ...reasoning, summary, encrypted_content: 'gAAAA' }),
        item(1, message()),
        { type: 'response.content_part.added', output_index: 1, content_index: 0, part: {} },
        delta('output_text', 1, 'He', { content_index: 0 }),
        delta('output_text', 1, 'llo', { content_index: 0 }),
        { type: 'response.output_text.done', output_index: 1, content_index: 0, text: 'Hello' },
        done(1, message({ type: 'output_text', text: 'Hello' })),
        item(2, call()),
        delta('function_call_arguments', 2, '{"a"'),
        item(3, custom),
        delta('custom_tool_call_input', 3, 'plain'),
        delta('function_call_arguments', 2, ':1}'),
        { type: 'response.function_call_arguments.done', output_index: 2, arguments: '{"a":1}' },
        done(2, call({ arguments: '{"a":1}' })),
        done(3, { ...custom, input: 'plain' }),
        completed,
      ),
      [
        begin,
        { type: 'reasoning', text: 'One.' },
        { type: 'reasoning', text: '\n\nTwo.' },
        { type: 'seal', seal: { kind: 'encrypted', value: 'gAAAA', id: 'rs_1' } },
        { type: 'text', text: 'He' },
        { type: 'text', text: 'llo' },
        { type: 'break' },
        { type: 'toolCall', index: 0, id: 'call_1', kind: 'function', name: 'f' },
        { type: 'toolArguments', index: 0, text: '{"a"' },
        { type: 'toolCall', index: 1, id: 'call_2', kind: 'custom', name: 'c' },
        { type: 'toolArguments', index: 1, text: 'plain' },
        { type: 'toolArguments', index: 0, text: ':1}' },
        { type: 'toolCallEnd', index: 0 },
        { type: 'toolCallEnd', index: 1 },
        ...ended('toolCalls'),
      ],
    );
  });

  it('reads a stream that has only whole items', () => {
    assert.deepEqual(
      read(
        created,
        done(0, { type: 'reasoning', id: 'rs_1', content: [{ type: 'reasoning_text', text: 'I think.' }] }),
        done(1, message({ type: 'output_text', text: 'A' }, { type: 'refusal', refusal: 'No.' })),
        done(2, call({ arguments: '{}' })),
        completed,
      ),
      [
        begin,
        { type: 'reasoning', text: 'I think.' },
        { type: 'break' },
        { type: 'text', text: 'A' },
        { type: 'break' },
        { type: 'refusal', text: 'No.' },
        { type: 'break' },
        { type: 'toolCall', index: 0, id: 'call_1', kind: 'function', name: 'f' },
        { type: 'toolArguments', index: 0, text: '{}' },
        { type: 'toolCallEnd', index: 0 },
        ...ended('toolCalls'),
      ],
    );
  });

  it('reads a stream that has only its last event', () => {
    const output = [message({ type: 'output_text', text: 'Hello' })];
    assert.deepEqual(read({ type: 'response.completed', response: response({ usage, output }) }), [
      begin,
      { type: 'text', text: 'Hello' },
      { type: 'break' },
      ...ended('stop'),
    ]);
  });

  for (const [title, ...events] of [
    ['text', item(0, message()), { type: 'response.output_text.done', output_index: 0, text: 'Hello' }],
    ['text', done(0, message({ type: 'output_text', text: 'Hello' }))],
    [
      'arguments',
      item(0, call()),
      { ...done(0, {}), type: 'response.function_call_arguments.done', arguments: '{}' },
    ],
    ['arguments', item(0, call({ call_id: 'call_9' })), delta('function_call_arguments', 0, '{}')],
  ] as const) {
    it(`reads ${title} that came whole, and no second time in the last event`, () => {
      const output = [title === 'text' ? message({ type: 'output_text', text: 'Hello' }) : events[0].item];
      const told = read(created, ...events, { type: 'response.completed', response: response({ output }) });
      const kinds = told.map(({ type }) => type).filter((type) => type !== 'break' && type !== 'toolCallEnd');
      const [kind, ...pieces] = title === 'text' ? ['text'] : ['toolCall', 'toolArguments'];
      assert.deepEqual(kinds, ['begin', kind, ...pieces, 'finish']);
    });
  }

  it('reads from the last event what was not streamed: a call after a text, the arguments of a call', () => {
    const output = [
      message({ type: 'output_text', text: 'Hello' }),
      call({ arguments: '{"a":1}' }),
      call({ call_id: 'call_2', arguments: '{"b":2}' }),
    ];
    const completed = { type: 'response.completed', response: response({ output }) };
    const told = read(delta('output_text', 0, 'Hello'), item(1, call()), completed);
    assert.deepEqual(
      told.flatMap((event) => ('text' in event ? event.text : event.type === 'toolCall' ? event.id : [])),
      ['Hello', 'call_1', '{"a":1}', 'call_2', '{"b":2}'],
    );
    assert.deepEqual(told.at(-1), { type: 'finish', stop: { reason: 'toolCalls' } });
  });

  it('tells items at one place apart, and passes over calls that have other ids in the last event', () => {
    const output = [
      call({ call_id: 'x', arguments: '{"a":1}' }),
      call({ call_id: 'y', arguments: '{"b":2}' }),
    ];
    const told = read(
      delta('output_text', 0, 'Hello'),
      item(0, call()),
      delta('function_call_arguments', 0, '{"a":1}'),
      item(0, call({ call_id: 'call_2' })),
      delta('function_call_arguments', 0, '{"b":2}'),
      done(0, call({ call_id: 'call_2', arguments: '{"b":2}' })),
      item(0, message()),
      delta('output_text', 0, 'Bye'),
      { type: 'response.completed', response: response({ output }) },
    );
    assert.deepEqual(
      told.flatMap((event) => ('text' in event ? event.text : event.type === 'toolCall' ? event.id : [])),
      ['Hello', 'call_1', '{"a":1}', 'call_2', '{"b":2}', 'Bye'],
    );
  });

  it('ends with the end mark of other formats', () => {
    const translator = createStreamTranslator('responses', 'chat', notesWith());
    const events = streamOf([delta('output_text', 0, 'Hi'), '[DONE]']);
    const told = Buffer.concat([translator.push(events), translator.end()]).toString();
    assert.match(told, /"content":"Hi".*"finish_reason":"stop".*\[DONE\]\n\n$/s);
    assert.equal(translator.isComplete, true);
  });

  it('reads reasoning under the name of the Open Responses specification', () => {
    const told = read(created, delta('reasoning', 0, 'Hm.', { content_index: 0 }));
    assert.deepEqual(told, [begin, { type: 'reasoning', text: 'Hm.' }]);
  });

  it('reads deltas without the beginning of their item, by the id of the item', () => {
    const text = (value: string) => ({ type: 'response.output_text.delta', item_id: 'msg_1', delta: value });
    assert.deepEqual(read(created, text('He'), text('llo'), completed).slice(1), [
      { type: 'text', text: 'He' },
      { type: 'text', text: 'llo' },
      ...ended('stop'),
    ]);
  });

  it('takes the name of an event for its type where the data has none', () => {
    const { read: readOne } = openReader();
    const unnamed = { output_index: 0, delta: 'Hi' };
    assert.deepEqual(readOne(unnamed, { name: 'response.output_text.delta' }), [
      { type: 'begin', id: '', model: '' },
      { type: 'text', text: 'Hi' },
    ]);
  });

  for (const [title, members, reason] of [
    [
      'reached the cap',
      { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
      'length',
    ],
    [
      'was withheld',
      { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
      'contentFilter',
    ],
    ['is incomplete for another reason', { status: 'incomplete', incomplete_details: null }, 'length'],
  ] as const) {
    it(`says that the answer ${title}`, () => {
      const last = { type: 'response.incomplete', response: response({ ...members, usage }) };
      assert.deepEqual(read(created, last).slice(1), ended(reason));
    });
  }

  it('says that the model refused', () => {
    const events = read(created, delta('refusal', 0, 'No.'), completed);
    assert.deepEqual(events.slice(1), [{ type: 'refusal', text: 'No.' }, ...ended('refusal')]);
  });

  for (const [title, event, error] of [
    [
      'response.failed',
      {
        type: 'response.failed',
        response: response({ status: 'failed', error: { code: 'server_error', message: 'Broken.' } }),
      },
      { message: 'Broken.', kind: 'server_error' },
    ],
    [
      'error',
      { type: 'error', code: 'rate_limit_exceeded', message: 'Slow down.', param: null },
      { message: 'Slow down.', kind: 'rate_limit_exceeded' },
    ],
    [
      'error with an object',
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded.' } },
      { message: 'Overloaded.', kind: 'overloaded_error' },
    ],
    [
      'error without a word',
      { type: 'error' },
      { message: 'The provider ended its answer with an error that it did not explain.' },
    ],
  ] as const) {
    it(`reads ${title}, and nothing after it`, () => {
      const events = read(created, event, event, delta('output_text', 0, 'more'), completed);
      assert.deepEqual(events, [begin, { type: 'error', error }]);
      assert.deepEqual(read(event), [
        { type: 'begin', id: '', model: '' },
        { type: 'error', error },
      ]);
    });
  }

  it('says nothing at the end of a stream that stopped early', () => {
    assert.deepEqual(read(created, delta('output_text', 0, 'Hi')), [begin, { type: 'text', text: 'Hi' }]);
  });

  it('passes over what repeats, what comes after its end, and what it does not know', () => {
    assert.deepEqual(
      read(
        created,
        created,
        item(0, { type: 'web_search_call', id: 'ws_1' }),
        { type: 'response.web_search_call.searching', output_index: 0 },
        done(0, { type: 'web_search_call', id: 'ws_1' }),
        item(1, call()),
        item(1, call()),
        done(1, call({ arguments: '{}' })),
        done(1, call({ arguments: '{}' })),
        item(1, call()),
        delta('function_call_arguments', 1, 'late'),
        delta('function_call_arguments', 7, 'never began'),
        { type: 'keepalive', sequence_number: 3 },
        completed,
        completed,
        delta('output_text', 5, 'late'),
      ),
      [
        begin,
        { type: 'toolCall', index: 0, id: 'call_1', kind: 'function', name: 'f' },
        { type: 'toolArguments', index: 0, text: '{}' },
        { type: 'toolCallEnd', index: 0 },
        ...ended('toolCalls'),
      ],
    );
  });

  for (const data of [
    undefined,
    null,
    5,
    [],
    {},
    { type: 5 },
    { type: 'response.created' },
    { type: 'response.created', response: [] },
    { type: 'response.output_item.added', output_index: 0 },
    { type: 'response.output_item.added', output_index: 0, item: [] },
    { type: 'response.output_item.done', output_index: 0, item: null },
    { type: 'response.output_text.delta', output_index: {}, delta: 5 },
    { type: 'response.completed', response: 'no' },
  ]) {
    it(`makes nothing of ${JSON.stringify(data)}`, () => assert.deepEqual(read(data), []));
  }

  for (const value of [
    { type: 'message', content: [null, 5, { type: 'output_text', text: {} }] },
    { type: 'reasoning', summary: 'x', content: [5], encrypted_content: {} },
    { type: 'function_call', call_id: 5, name: null, arguments: {} },
    { type: 5 },
  ]) {
    it(`reads a broken item as far as it goes: ${JSON.stringify(value).slice(0, 60)}`, () => {
      const texts = openReader()
        .read(done(0, value), { exact: () => done(0, value) })
        .filter(({ type }) => type !== 'begin' && type !== 'break');
      assert.ok(texts.every(({ type }) => type === 'toolCall' || type === 'toolCallEnd'));
    });
  }

  it('tells an item once whose place is missing in an event, or another', () => {
    const { output_index: _, ...placeless } = done(0, message({ type: 'output_text', text: 'Hello' }));
    const told = read(
      item(0, message()),
      delta('output_text', 0, 'Hello', { item_id: 'msg_1' }),
      placeless,
      item(1, call()),
      delta('function_call_arguments', 1, '{"a":1}', { item_id: 'fc_1' }),
      done(4, call({ arguments: '{"a":1}' })),
      completed,
    );
    assert.deepEqual(
      told.flatMap((event) => ('text' in event ? event.text : event.type === 'toolCall' ? event.id : [])),
      ['Hello', 'call_1', '{"a":1}'],
    );
  });

  it('tells a call once its name has come, and one without a name never', () => {
    const nameless = call({ name: null });
    const told = read(
      item(0, nameless),
      delta('function_call_arguments', 0, '{"a":1}'),
      done(0, call({ arguments: '{"a":1}' })),
      done(1, call({ ...nameless, id: 'fc_2', call_id: 'call_2' })),
      completed,
    );
    assert.deepEqual(
      told.filter(({ type }) => type.startsWith('tool')),
      [
        { type: 'toolCall', index: 0, id: 'call_1', kind: 'function', name: 'f' },
        { type: 'toolArguments', index: 0, text: '{"a":1}' },
        { type: 'toolCallEnd', index: 0 },
      ],
    );
    assert.deepEqual(told.filter(({ type }) => type === 'finish').at(0), ended('toolCalls')[0]);
  });

  for (const value of [call(), { type: 'web_search_call' }]) {
    it(`ends a stream of endlessly many items with an error: ${value.type}`, () => {
      const { reader, read: readOne } = openReader();
      readOne(created);
      let last: StreamEvent[] = [];
      for (let index = 0; index <= MAX_ITEMS; index += 1) last = readOne(item(index, value));
      assert.equal(last.at(-1)?.type, 'error');
      assert.ok(reader.keptBytes < 1024 * 1024);
      assert.deepEqual(readOne(completed), []);
    });
  }
});
