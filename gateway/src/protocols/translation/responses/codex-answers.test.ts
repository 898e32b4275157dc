import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../json.ts';
import { translateAnswer, translateRequest } from '../index.ts';
import { sealToText } from '../seals.ts';
import { CODEX_INPUT_TOOLS, CODEX_LATER } from './codex-body.fixture.ts';
import {
  chatStream,
  ID,
  namedStream,
  notesOf,
  OPTIONS,
  type Translated,
  translateStream,
} from './translated-stream.fixture.ts';

// What Codex gets back from providers of chat and of messages, whole and as streams.

const CHAT_USAGE = {
  prompt_tokens: 20,
  prompt_tokens_details: { cached_tokens: 5 },
  completion_tokens: 9,
  completion_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 29,
};
const USAGE = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 5 },
  output_tokens: 9,
  output_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 29,
};
const PATCH = '*** Begin Patch\n*** Add File: a.txt\n+"hé\\"\n*** End Patch\n';
const shell = { cmd: 'ls' };

const message = (index: number, text: string) => ({
  id: `msg_${ID}_${index}`,
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
});
const functionCall = (index: number, callId: string, args: JsonObject, members: JsonObject = {}) => ({
  id: `fc_${ID}_${index}`,
  type: 'function_call',
  status: 'completed',
  call_id: callId,
  name: 'exec_command',
  arguments: JSON.stringify(args),
  ...members,
});
const patchCall = (index: number, callId: string) => ({
  id: `ctc_${ID}_${index}`,
  type: 'custom_tool_call',
  status: 'completed',
  call_id: callId,
  name: 'apply_patch',
  input: PATCH,
});
const closeCall = (index: number, callId: string) =>
  functionCall(index, callId, { target: 'a' }, { name: 'close_agent', namespace: 'multi_agent_v1' });

function last({ events }: Translated): JsonObject {
  return events.at(-1)?.['response'] as JsonObject;
}

function typesOf({ events }: Translated): string[] {
  return events.map(({ type }) => String(type).replace('response.', ''));
}

/** What Codex goes by: the whole items, in the order in which they ended. */
function itemsDone({ events }: Translated): unknown[] {
  return events.flatMap(({ type, item }) => (type === 'response.output_item.done' ? [item] : []));
}

function joined({ events }: Translated, type: string): string {
  return events.flatMap((event) => (event['type'] === type ? [event['delta']] : [])).join('');
}

describe('Codex on a provider of chat', () => {
  const call = (index: number, members: JsonObject) => ({ tool_calls: [{ index, ...members }] });
  const overChat = (stream: string, body = CODEX_LATER) => translateStream('responses', 'chat', body, stream);

  it('gets reasoning, text and parallel calls of its own tools', () => {
    const patch = JSON.stringify({ input: PATCH });
    const stream = chatStream(
      [
        { role: 'assistant', content: '', reasoning_content: 'I th' },
        { reasoning_content: 'ink.' },
        { content: 'Löok' },
        { content: ' 🙂' },
        call(0, { id: 'call_a', type: 'function', function: { name: 'exec_command', arguments: '' } }),
        call(0, { function: { arguments: '{"cmd"' } }),
        call(0, { function: { arguments: ':"ls"}' } }),
        call(1, { id: 'call_b', type: 'function', function: { name: 'apply_patch', arguments: '' } }),
        call(1, { function: { arguments: patch.slice(0, 21) } }),
        call(1, { function: { arguments: patch.slice(21) } }),
        call(2, {
          id: 'call_c',
          type: 'function',
          function: { name: 'multi_agent_v1__close_agent', arguments: '{"target":"a"}' },
        }),
      ],
      'tool_calls',
      CHAT_USAGE,
    );
    const translated = overChat(stream);
    const output = [
      { id: `rs_${ID}_0`, type: 'reasoning', summary: [{ type: 'summary_text', text: 'I think.' }] },
      message(1, 'Löok 🙂'),
      functionCall(2, 'call_a', shell),
      patchCall(3, 'call_b'),
      closeCall(4, 'call_c'),
    ];
    assert.deepEqual(last(translated)['output'], output);
    assert.deepEqual(itemsDone(translated), output);
    assert.equal(joined(translated, 'response.custom_tool_call_input.delta'), PATCH);
    assert.equal(joined(translated, 'response.function_call_arguments.delta'), '{"cmd":"ls"}{"target":"a"}');
    assert.equal(joined(translated, 'response.reasoning_summary_text.delta'), 'I think.');
    assert.deepEqual(last(translated)['usage'], USAGE);
    assert.equal(last(translated)['id'], `resp_${ID}`);
    assert.equal(typesOf(translated).at(-1), 'completed');
    assert.deepEqual(
      translated.events.map((event) => event['sequence_number']),
      translated.events.map((_, index) => index),
    );
  });

  it('gets a search for its own tools, which has no deltas', () => {
    const translated = overChat(
      chatStream(
        [
          call(0, {
            id: 'call_a',
            type: 'function',
            function: { name: 'tool_search', arguments: '{"query"' },
          }),
          call(0, { function: { arguments: ':"x"}' } }),
        ],
        'tool_calls',
      ),
    );
    assert.deepEqual(typesOf(translated).slice(2, -1), ['output_item.added', 'output_item.done']);
    assert.deepEqual(itemsDone(translated), [
      {
        id: `tsc_${ID}_0`,
        type: 'tool_search_call',
        status: 'completed',
        call_id: 'call_a',
        execution: 'client',
        arguments: { query: 'x' },
      },
    ]);
  });

  it('gets a call and then text', () => {
    const translated = overChat(
      chatStream(
        [
          call(0, {
            id: 'call_a',
            type: 'function',
            function: { name: 'exec_command', arguments: '{"cmd":"ls"}' },
          }),
          { content: 'Done.' },
        ],
        'tool_calls',
      ),
    );
    assert.deepEqual(last(translated)['output'], [functionCall(0, 'call_a', shell), message(1, 'Done.')]);
    assert.equal(last(translated)['usage'], null);
  });

  it('gets a call of a custom tool that its input declares in a namespace', () => {
    const translated = overChat(
      chatStream(
        [
          call(0, {
            id: 'call_a',
            type: 'function',
            function: { name: 'functions__exec', arguments: '{"input":"1 + 1"}' },
          }),
        ],
        'tool_calls',
      ),
      CODEX_INPUT_TOOLS,
    );
    assert.deepEqual(itemsDone(translated), [
      {
        id: `ctc_${ID}_0`,
        type: 'custom_tool_call',
        status: 'completed',
        call_id: 'call_a',
        name: 'exec',
        namespace: 'functions',
        input: '1 + 1',
      },
    ]);
  });

  it('sends back what the provider of chat wants back', () => {
    const details = [
      { type: 'reasoning.text', format: 'x-v1', index: 0, text: 'Hm.' },
      { type: 'reasoning.encrypted', format: 'google-gemini-v1', index: 1, data: 'AAAA' },
    ];
    const extra = { google: { thought_signature: 'SIG' } };
    const called = {
      id: 'call_a',
      type: 'function',
      function: { name: 'exec_command', arguments: '{"cmd":"ls"}' },
      extra_content: extra,
    };
    const translated = overChat(
      chatStream(
        [
          { reasoning_content: 'Hm.', reasoning_details: details.slice(0, 1) },
          { reasoning_details: details.slice(1) },
          call(0, called),
        ],
        'tool_calls',
      ),
    );
    const output = itemsDone(translated) as JsonObject[];
    const input = [{ role: 'user', content: 'Hi' }, ...output];
    const sent = (keep: readonly string[]) => {
      const { body } = translateRequest('responses', 'chat', { model: 'm', input }, { ...OPTIONS, keep });
      return (body['messages'] as JsonObject[])[1];
    };
    const { extra_content: _, ...plain } = called;
    const assistant = { role: 'assistant', content: null };
    assert.deepEqual(sent(['reasoning_content', 'reasoning_details', 'extra_content']), {
      ...assistant,
      reasoning_content: 'Hm.',
      reasoning_details: details,
      tool_calls: [called],
    });
    assert.deepEqual(sent([]), { ...assistant, tool_calls: [plain] });
  });

  it('gets a refusal', () => {
    const translated = overChat(chatStream([{ refusal: 'No.' }], 'stop'));
    const [item] = last(translated)['output'] as JsonObject[];
    assert.deepEqual(item?.['content'], [{ type: 'refusal', refusal: 'No.' }]);
    assert.equal(last(translated)['status'], 'completed');
  });

  it('is told that the answer reached its cap, or was withheld', () => {
    for (const [finish, reason] of [
      ['length', 'max_output_tokens'],
      ['content_filter', 'content_filter'],
    ] as const) {
      const translated = overChat(chatStream([{ content: 'Hi' }], finish, CHAT_USAGE));
      assert.equal(typesOf(translated).at(-1), 'incomplete');
      assert.deepEqual(last(translated)['incomplete_details'], { reason });
      assert.deepEqual(last(translated)['usage'], USAGE);
    }
  });

  it("is told the provider's error in the middle of a stream", () => {
    const error = { error: { message: 'Overloaded', type: 'overloaded_error' } };
    const translated = overChat(`${chatStream([{ content: 'Hi' }])}data: ${JSON.stringify(error)}\n\n`);
    assert.deepEqual(typesOf(translated).slice(-2), ['error', 'failed']);
    assert.deepEqual(last(translated)['error'], { code: 'overloaded_error', message: 'Overloaded' });
  });

  it('gets no end of a stream that stopped early', () => {
    const translated = overChat(chatStream([{ content: 'Hi' }]));
    assert.equal(typesOf(translated).at(-1), 'output_text.delta');
  });

  it('gets an answer that comes whole', () => {
    const answer = {
      id: 'chatcmpl-1',
      created: 7,
      model: 'm-2026',
      choices: [
        {
          index: 0,
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: 'Look',
            tool_calls: [
              {
                id: 'call_a',
                type: 'function',
                function: { name: 'exec_command', arguments: '{"cmd":"ls"}' },
              },
              {
                id: 'call_b',
                type: 'function',
                function: { name: 'apply_patch', arguments: JSON.stringify({ input: PATCH }) },
              },
              {
                id: 'call_c',
                type: 'function',
                function: { name: 'multi_agent_v1__close_agent', arguments: '{"target":"a"}' },
              },
            ],
          },
        },
      ],
      usage: CHAT_USAGE,
    };
    const written = translateAnswer('chat', 'responses', answer, notesOf('responses', 'chat', CODEX_LATER));
    assert.deepEqual(written?.['output'], [
      message(0, 'Look'),
      functionCall(1, 'call_a', shell),
      patchCall(2, 'call_b'),
      closeCall(3, 'call_c'),
    ]);
    assert.deepEqual(written?.['usage'], USAGE);
    assert.equal(written?.['parallel_tool_calls'], true);
    assert.equal(written?.['prompt_cache_key'], CODEX_LATER['prompt_cache_key']);
  });
});

describe('Codex on a provider of messages', () => {
  const start = {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-2026',
      content: [],
      usage: {
        input_tokens: 15,
        cache_read_input_tokens: 5,
        cache_creation_input_tokens: 0,
        output_tokens: 1,
      },
    },
  };
  const begin = (index: number, block: JsonObject) => ({
    type: 'content_block_start',
    index,
    content_block: block,
  });
  const delta = (index: number, type: string, members: JsonObject) => ({
    type: 'content_block_delta',
    index,
    delta: { type, ...members },
  });
  const stop = (index: number) => ({ type: 'content_block_stop', index });
  const end = (reason: string) => [
    {
      type: 'message_delta',
      delta: { stop_reason: reason, stop_sequence: null },
      usage: { output_tokens: 9 },
    },
    { type: 'message_stop' },
  ];
  const tool = (index: number, id: string, name: string, json: string) => [
    begin(index, { type: 'tool_use', id, name, input: {} }),
    delta(index, 'input_json_delta', { partial_json: json.slice(0, 5) }),
    delta(index, 'input_json_delta', { partial_json: json.slice(5) }),
    stop(index),
  ];
  const overMessages = (events: (JsonObject & { type: string })[]) =>
    translateStream('responses', 'messages', CODEX_LATER, namedStream(events));
  const seal = { kind: 'signature', value: 'EqQB' } as const;

  it('gets thinking with its signature, text and parallel calls of its own tools', () => {
    const translated = overMessages([
      start,
      { type: 'ping' },
      begin(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, 'thinking_delta', { thinking: 'I th' }),
      delta(0, 'thinking_delta', { thinking: 'ink.' }),
      delta(0, 'signature_delta', { signature: 'EqQB' }),
      stop(0),
      begin(1, { type: 'text', text: '' }),
      delta(1, 'text_delta', { text: 'Löok 🙂' }),
      stop(1),
      ...tool(2, 'toolu_a', 'exec_command', '{"cmd":"ls"}'),
      ...tool(3, 'toolu_b', 'apply_patch', JSON.stringify({ input: PATCH })),
      ...tool(4, 'toolu_c', 'multi_agent_v1__close_agent', '{"target":"a"}'),
      ...end('tool_use'),
    ]);
    const output = [
      {
        id: `rs_${ID}_0`,
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'I think.' }],
        encrypted_content: sealToText(seal),
      },
      message(1, 'Löok 🙂'),
      functionCall(2, 'toolu_a', shell),
      patchCall(3, 'toolu_b'),
      closeCall(4, 'toolu_c'),
    ];
    assert.deepEqual(itemsDone(translated), output);
    assert.deepEqual(last(translated)['output'], output);
    const { input_tokens, output_tokens } = last(translated)['usage'] as JsonObject;
    assert.deepEqual([input_tokens, output_tokens], [20, 9]);
  });

  it('sends the thinking back signed as it was', () => {
    const answer = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-2026',
      content: [
        { type: 'thinking', thinking: 'I think.', signature: 'EqQB' },
        { type: 'redacted_thinking', data: 'x' },
        { type: 'text', text: 'Hi' },
      ],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 2 },
    };
    const notes = notesOf('responses', 'messages', CODEX_LATER);
    const written = translateAnswer('messages', 'responses', answer, notes);
    assert.ok(written);
    const input = [{ role: 'user', content: 'Hi' }, ...(written['output'] as JsonObject[])];
    const { body } = translateRequest('responses', 'messages', { model: 'm', input }, OPTIONS);
    assert.deepEqual((body['messages'] as JsonObject[])[1]?.['content'], answer.content);
  });

  it('is told that the answer was refused, and of an error', () => {
    const refused = overMessages([start, ...end('refusal')]);
    assert.deepEqual(last(refused)['incomplete_details'], { reason: 'content_filter' });
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    const failed = overMessages([start, begin(0, { type: 'text', text: '' }), error]);
    assert.deepEqual(last(failed)['error'], { code: 'overloaded_error', message: 'Overloaded' });
  });
});
