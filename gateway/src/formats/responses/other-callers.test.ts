import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../wire/json.ts';
import { translateAnswer, translateRequest } from '../translation/index.ts';
import { namedStream, notesOf, OPTIONS, translateStream } from './translated-stream.fixture.ts';

// Callers of chat and of messages on a provider that has responses only.

const seal = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' };
const summary = [{ type: 'summary_text', text: 'I think.' }];
const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' };
const text = { type: 'output_text', text: 'Löok', annotations: [] };
const call = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'f',
  arguments: '{"a":1}',
  status: 'completed',
};
const RESPONSE = {
  id: 'resp_abc',
  object: 'response',
  created_at: 7,
  model: 'gpt-2026',
  status: 'completed',
  output: [
    { ...seal, summary },
    { ...message, content: [text] },
    call,
    { ...call, id: 'fc_2', call_id: 'call_2', name: 'g', arguments: '' },
  ],
  usage: {
    input_tokens: 20,
    input_tokens_details: { cached_tokens: 5 },
    output_tokens: 9,
    output_tokens_details: { reasoning_tokens: 4 },
    total_tokens: 29,
  },
};

const item = (index: number, value: JsonObject) => ({
  type: 'response.output_item.added',
  output_index: index,
  item: value,
});
const done = (index: number, value: JsonObject) => ({
  ...item(index, value),
  type: 'response.output_item.done',
});
const delta = (index: number, type: string, part: string) => ({
  type: `response.${type}.delta`,
  output_index: index,
  content_index: 0,
  summary_index: 0,
  delta: part,
});
const CREATED = {
  type: 'response.created',
  response: { ...RESPONSE, status: 'in_progress', output: [], usage: null },
};
const STREAM = namedStream([
  CREATED,
  item(0, seal),
  delta(0, 'reasoning_summary_text', 'I th'),
  delta(0, 'reasoning_summary_text', 'ink.'),
  done(0, { ...seal, summary }),
  item(1, { ...message, content: [] }),
  delta(1, 'output_text', 'Lö'),
  delta(1, 'output_text', 'ok'),
  done(1, { ...message, content: [text] }),
  item(2, { ...call, arguments: '' }),
  delta(2, 'function_call_arguments', '{"a"'),
  item(3, { ...call, id: 'fc_2', call_id: 'call_2', name: 'g', arguments: '' }),
  delta(2, 'function_call_arguments', ':1}'),
  done(2, call),
  done(3, { ...call, id: 'fc_2', call_id: 'call_2', name: 'g', arguments: '' }),
  { type: 'response.completed', response: RESPONSE },
]);

const schema = { type: 'object', properties: { a: { type: 'number' } } };
const DETAIL = {
  type: 'reasoning.encrypted',
  data: 'gAAAA',
  text: 'I think.',
  id: 'rs_1',
  format: 'openai-responses-v1',
  index: 0,
};

describe('a caller of chat on a provider of responses', () => {
  const body = {
    model: 'm',
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
    stream: true,
    stream_options: { include_usage: true },
  };
  const usage = {
    prompt_tokens: 20,
    completion_tokens: 9,
    total_tokens: 29,
    prompt_tokens_details: { cached_tokens: 5 },
    completion_tokens_details: { reasoning_tokens: 4 },
  };
  const calls = [
    { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
    { id: 'call_2', type: 'function', function: { name: 'g', arguments: '{}' } },
  ];

  it('gets an answer that comes whole', () => {
    const answer = translateAnswer('responses', 'chat', RESPONSE, notesOf('chat', 'responses', body));
    assert.deepEqual(answer, {
      id: 'chatcmpl-abc',
      object: 'chat.completion',
      created: 7,
      model: 'gpt-2026',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Löok',
            refusal: null,
            reasoning_content: 'I think.',
            reasoning_details: [DETAIL],
            tool_calls: calls,
          },
          logprobs: null,
          finish_reason: 'tool_calls',
        },
      ],
      usage,
    });
  });

  it('gets a stream', () => {
    const { events, bytes } = translateStream('chat', 'responses', body, STREAM);
    const deltas = events.flatMap(({ choices }) =>
      (choices as { delta: JsonObject }[]).map((choice) => choice.delta),
    );
    const joined = (name: string) => deltas.map((one) => one[name] ?? '').join('');
    assert.equal(joined('content'), 'Löok');
    assert.equal(joined('reasoning_content'), 'I think.');
    assert.deepEqual(
      deltas.flatMap((one) => one['reasoning_details'] ?? []),
      [DETAIL],
    );
    const streamed = new Map<number, string>();
    for (const one of deltas.flatMap((each) => (each['tool_calls'] ?? []) as JsonObject[])) {
      const index = one['index'] as number;
      const { arguments: part } = one['function'] as { arguments: string };
      streamed.set(index, (streamed.get(index) ?? '') + part);
    }
    assert.deepEqual(
      [...streamed],
      [
        [0, '{"a":1}'],
        [1, '{}'],
      ],
    );
    assert.deepEqual(events.at(-1)?.['usage'], usage);
    assert.match(bytes, /"finish_reason":"tool_calls"/);
    assert.ok(bytes.endsWith('data: [DONE]\n\n'));
  });

  it('gets a refusal as OpenAI says it, which SDKs read where the model has stopped', () => {
    const refused = { ...RESPONSE, output: [{ ...message, content: [{ type: 'refusal', refusal: 'No.' }] }] };
    const answer = translateAnswer('responses', 'chat', refused, notesOf('chat', 'responses', body));
    const [choice] = (answer?.['choices'] ?? []) as { finish_reason: string; message: JsonObject }[];
    assert.deepEqual([choice?.finish_reason, choice?.message['refusal']], ['stop', 'No.']);
    const { bytes } = translateStream(
      'chat',
      'responses',
      body,
      namedStream([
        { type: 'response.created', response: { ...RESPONSE, output: [] } },
        { type: 'response.refusal.delta', output_index: 0, item_id: 'msg_1', content_index: 0, delta: 'No.' },
        { type: 'response.completed', response: refused },
      ]),
    );
    assert.match(bytes, /"refusal":"No\."/);
    assert.match(bytes, /"finish_reason":"stop"/);
  });

  it('sends sealed reasoning back in its place', () => {
    const { body: sent, dropped } = translateRequest(
      'chat',
      'responses',
      {
        model: 'm',
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: 'Löok', reasoning_details: [DETAIL], tool_calls: calls.slice(0, 1) },
          { role: 'tool', tool_call_id: 'call_1', content: 'x' },
        ],
      },
      OPTIONS,
    );
    assert.deepEqual((sent['input'] as JsonObject[]).slice(1), [
      { type: 'reasoning', id: 'rs_1', summary, encrypted_content: 'gAAAA' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Löok' }] },
      { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'x' },
    ]);
    assert.deepEqual(sent['include'], ['reasoning.encrypted_content']);
    assert.deepEqual(dropped, []);
  });

  it('is told an error in the middle of a stream', () => {
    const failed = {
      type: 'response.failed',
      response: {
        ...CREATED.response,
        status: 'failed',
        error: { code: 'server_error', message: 'Broken.' },
      },
    };
    const { bytes } = translateStream('chat', 'responses', body, namedStream([CREATED, failed]));
    assert.match(bytes, /"error":\{"message":"Broken\.","type":"server_error"/);
    assert.doesNotMatch(bytes, /DONE/);
  });

  it('gets no end of a stream that stopped early, and no answer of a response that failed', () => {
    const stream = namedStream([CREATED, delta(0, 'output_text', 'Hi')]);
    assert.doesNotMatch(translateStream('chat', 'responses', body, stream).bytes, /DONE/);
    const failed = { ...RESPONSE, status: 'failed', output: [] };
    const notes = notesOf('chat', 'responses', body);
    assert.equal(translateAnswer('responses', 'chat', failed, notes), undefined);
  });
});

describe('a caller of messages on a provider of responses', () => {
  const body = {
    model: 'm',
    max_tokens: 100,
    system: 'Be brief.',
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [{ name: 'f', input_schema: schema }],
    thinking: { type: 'enabled', budget_tokens: 2_000 },
    stream: true,
  };

  it('asks for reasoning that it can send back', () => {
    const { body: sent } = translateRequest('messages', 'responses', body, OPTIONS);
    assert.deepEqual(sent, {
      model: 'm',
      instructions: 'Be brief.',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }],
      tools: [{ type: 'function', name: 'f', parameters: schema, strict: false }],
      max_output_tokens: 100,
      reasoning: { effort: 'low', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      stream: true,
      store: false,
    });
  });

  it('gets an answer that comes whole, and sends its reasoning back', () => {
    const notes = notesOf('messages', 'responses', body);
    const answer = translateAnswer('responses', 'messages', RESPONSE, notes) as JsonObject;
    const content = answer['content'] as JsonObject[];
    assert.deepEqual(
      content.map(({ type }) => type),
      ['thinking', 'text', 'tool_use', 'tool_use'],
    );
    assert.equal(answer['stop_reason'], 'tool_use');
    const { input_tokens, cache_read_input_tokens, output_tokens } = answer['usage'] as JsonObject;
    assert.deepEqual([input_tokens, cache_read_input_tokens, output_tokens], [15, 5, 9]);
    const results = [{ type: 'tool_result', tool_use_id: 'call_1', content: 'x' }];
    const messages = [...body.messages, { role: 'assistant', content }, { role: 'user', content: results }];
    const { body: sent, dropped } = translateRequest('messages', 'responses', { ...body, messages }, OPTIONS);
    assert.deepEqual((sent['input'] as JsonObject[])[1], {
      type: 'reasoning',
      id: 'rs_1',
      summary,
      encrypted_content: 'gAAAA',
    });
    assert.deepEqual(dropped, []);
  });

  it('gets a stream', () => {
    const { events } = translateStream('messages', 'responses', body, STREAM);
    const deltas = events.flatMap((event) =>
      event['type'] === 'content_block_delta' ? [event['delta'] as JsonObject] : [],
    );
    const joined = (name: string) => deltas.map((one) => one[name] ?? '').join('');
    assert.equal(joined('text'), 'Löok');
    assert.equal(joined('thinking'), 'I think.');
    assert.equal(joined('partial_json'), '{"a":1}{}');
    assert.equal(events.filter(({ type }) => type === 'content_block_start').length, 4);
    assert.deepEqual(
      events.slice(-2).map(({ type }) => type),
      ['message_delta', 'message_stop'],
    );
  });
});
