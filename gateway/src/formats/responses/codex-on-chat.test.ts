import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../wire/json.ts';
import { translateAnswer, translateRequest } from '../translation/index.ts';
import { CODEX_INPUT_TOOLS, CODEX_LATER } from './codex-body.fixture.ts';
import {
  closeCall,
  functionCall,
  itemsDone,
  joined,
  last,
  message,
  PATCH,
  patchCall,
  shell,
  typesOf,
} from './codex-items.fixture.ts';
import { chatStream, ID, notesOf, OPTIONS, translateStream } from './translated-stream.fixture.ts';

// What Codex gets back from providers of chat, whole and as streams.

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
    assert.equal((last(translated)['usage'] as JsonObject)['input_tokens'], OPTIONS.promptTokens);
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

  for (const [detail, sent, dropped] of [
    ['original', 'high', ['input_image.detail']],
    ['low', 'low', []],
  ] as const) {
    it(`shows a picture of detail ${detail}, also of a tool, as ${sent}`, () => {
      const image = { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=', detail };
      const input = [
        { role: 'user', content: [image] },
        { type: 'function_call', call_id: 'a', name: 'view_image', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: [image] },
      ];
      const translated = translateRequest('responses', 'chat', { model: 'm', input }, OPTIONS);
      const details = JSON.stringify(translated.body).match(/"detail":"\w+"/g);
      assert.deepEqual(details, [`"detail":"${sent}"`, `"detail":"${sent}"`]);
      assert.deepEqual(translated.dropped, dropped);
    });
  }
});
