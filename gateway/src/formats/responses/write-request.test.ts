import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BodyError } from '../call.ts';
import type { Conversation, Turn } from '../translation/conversation.ts';
import type { TranslatedFormat } from '../translation/feature-table.ts';
import { Losses } from '../translation/losses.ts';
import { writeRequest } from './write-request.ts';

const options = { keep: [], requestId: 'r', createdSeconds: 7, promptTokens: 3 };
const text = (value: string) => ({ type: 'text', text: value }) as const;
const EMPTY: Conversation = {
  model: 'm',
  instructions: [],
  turns: [{ role: 'user', parts: [text('Hi')] }],
  tools: [],
  sampling: {},
  isStream: false,
  showsUsage: false,
};

function write(members: Partial<Conversation>, from: TranslatedFormat = 'chat') {
  const losses = new Losses(from, 'responses');
  const { body, toolNames } = writeRequest({ ...EMPTY, ...members }, losses, options);
  return { body, toolNames, dropped: losses.dropped };
}

function inputOf(...turns: Turn[]): unknown {
  return write({ turns }).body['input'];
}

const hi = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] };

describe('a request to a provider of responses', () => {
  it('says no more than it has to', () => {
    assert.deepEqual(write({}).body, { model: 'm', input: [hi], store: false });
  });

  it('has the first system prompt as instructions, and the others as messages', () => {
    const { body } = write({
      instructions: [
        { role: 'system', parts: [text('Be brief.')] },
        { role: 'developer', parts: [text('A'), text('B')] },
      ],
    });
    assert.equal(body['instructions'], 'Be brief.');
    const content = [
      { type: 'input_text', text: 'A' },
      { type: 'input_text', text: 'B' },
    ];
    assert.deepEqual(body['input'], [{ type: 'message', role: 'developer', content }, hi]);
  });

  it('keeps a system prompt of several parts in one message', () => {
    const { body } = write({ instructions: [{ role: 'system', parts: [text('A'), text('B')] }] });
    assert.equal(body['instructions'], undefined);
    assert.equal((body['input'] as unknown[]).length, 2);
  });

  it('leaves out a system prompt without a text', () => {
    assert.deepEqual(write({ instructions: [{ role: 'system', parts: [] }] }).body['input'], [hi]);
  });

  it('has images and files', () => {
    const parts = [
      { type: 'image', source: { kind: 'url', url: 'https://example.com/a.png' }, detail: 'low' },
      { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AAAA' } },
      { type: 'document', source: { kind: 'base64', mediaType: 'application/pdf', data: 'BBBB' } },
      { type: 'document', source: { kind: 'url', url: 'https://example.com/a.pdf' } },
      { type: 'document', source: { kind: 'text', text: 'Notes' }, name: 'notes.txt' },
    ] as const;
    assert.deepEqual(inputOf({ role: 'user', parts }), [
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'low' },
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'auto' },
          {
            type: 'input_file',
            filename: 'document.pdf',
            file_data: 'data:application/pdf;base64,BBBB',
          },
          { type: 'input_file', file_url: 'https://example.com/a.pdf' },
          { type: 'input_text', text: 'notes.txt\n\nNotes' },
        ],
      },
    ]);
  });

  it('has calls and results of tools, of functions and custom tools', () => {
    const long = 'c'.repeat(80);
    const image = { type: 'image', source: { kind: 'url', url: 'u' } } as const;
    const input = inputOf(
      {
        role: 'assistant',
        parts: [
          text('I look.'),
          { type: 'toolCall', id: long, kind: 'function', name: 'f', arguments: '{}' },
          { type: 'toolCall', id: 'c2', kind: 'custom', name: 'g', arguments: 'plain' },
          { type: 'refusal', text: 'No.' },
        ],
      },
      {
        role: 'user',
        parts: [
          { type: 'toolResult', callId: long, parts: [text('a'), image] },
          { type: 'toolResult', callId: 'c2', parts: [text('b')] },
          { type: 'toolResult', callId: 'c3', parts: [] },
          text('Go on'),
        ],
      },
    ) as { call_id?: string }[];
    const id = input[1]?.call_id;
    assert.match(String(id), /^c{10,}_[0-9a-f]{10}$/);
    assert.equal(id?.length, 64);
    assert.deepEqual(input, [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
      { type: 'function_call', call_id: id, name: 'f', arguments: '{}' },
      { type: 'custom_tool_call', call_id: 'c2', name: 'g', input: 'plain' },
      { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
      {
        type: 'function_call_output',
        call_id: id,
        output: [
          { type: 'input_text', text: 'a' },
          { type: 'input_image', image_url: 'u', detail: 'auto' },
        ],
      },
      { type: 'custom_tool_call_output', call_id: 'c2', output: 'b' },
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'Returned by the tool call c3:' },
          { type: 'input_text', text: 'Go on' },
        ],
      },
    ]);
  });

  it('has reasoning that the provider sealed, and asks for more of it', () => {
    const seal = { kind: 'encrypted', value: 'gAAAA', id: 'rs_1' } as const;
    const { body, dropped } = write({
      turns: [{ role: 'assistant', parts: [{ type: 'reasoning', text: 'I think.', seal }, text('Hi')] }],
    });
    assert.deepEqual((body['input'] as unknown[]).slice(0, 1), [
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'I think.' }],
        encrypted_content: 'gAAAA',
      },
    ]);
    assert.deepEqual(body['include'], ['reasoning.encrypted_content']);
    assert.deepEqual(dropped, []);
  });

  it('leaves out reasoning that nothing follows, by name', () => {
    const seal = { kind: 'encrypted', value: 'gAAAA' } as const;
    const parts = [text('Hi'), { type: 'reasoning', text: '', seal }] as const;
    const { body, dropped } = write({ turns: [{ role: 'assistant', parts }] });
    assert.equal((body['input'] as unknown[]).length, 1);
    assert.deepEqual(dropped, ['reasoning_content']);
  });

  it('leaves out reasoning that the provider did not seal', () => {
    const parts = [
      { type: 'reasoning', text: 'I think.' },
      { type: 'reasoning', text: 'Hm.', seal: { kind: 'signature', value: 'EqQB' } },
      text('Hi'),
    ] as const;
    const { body, dropped } = write({ turns: [{ role: 'assistant', parts }] }, 'messages');
    assert.equal((body['input'] as unknown[]).length, 1);
    assert.deepEqual(dropped, ['thinking']);
  });

  for (const [title, reasoning, expected] of [
    ['an effort', { effort: 'low' }, { effort: 'low', summary: 'auto' }],
    ['a budget', { thinking: 'enabled', budgetTokens: 20_000 }, { effort: 'high', summary: 'auto' }],
    ['as the model sees fit', { thinking: 'adaptive' }, { summary: 'auto' }],
    ['a summary', { effort: 'high', summary: 'detailed' }, { effort: 'high', summary: 'detailed' }],
    ['the most there is', { effort: 'max' }, { effort: 'xhigh', summary: 'auto' }],
    ['none', { effort: 'none' }, { effort: 'none' }],
    ['none, in the words of messages', { thinking: 'disabled' }, { effort: 'none' }],
  ] as const) {
    it(`asks for reasoning: ${title}`, () => {
      const { body } = write({ reasoning });
      assert.deepEqual(body['reasoning'], expected);
      const include = 'summary' in expected ? ['reasoning.encrypted_content'] : undefined;
      assert.deepEqual(body['include'], include);
    });
  }

  it('declares tools: functions are not strict unless the caller said so', () => {
    const long = 'f'.repeat(70);
    const grammar = { syntax: 'lark', definition: 'start: "a"' };
    const { body, toolNames, dropped } = write({
      tools: [
        {
          kind: 'function',
          name: 'f',
          description: 'F.',
          parameters: { type: 'object', properties: {} },
          strict: true,
        },
        { kind: 'function', name: long },
        { kind: 'custom', name: 'c', format: { type: 'grammar', grammar } },
        { kind: 'hosted', type: 'web_search_20250305' },
      ],
      toolChoice: { mode: 'tool', name: 'c' },
      parallelToolCalls: false,
    });
    const [, { name: sent }] = body['tools'] as [unknown, { name: string }];
    assert.equal(sent.length, 64);
    assert.deepEqual(toolNames, { [sent]: long });
    assert.deepEqual(body['tools'], [
      {
        type: 'function',
        name: 'f',
        description: 'F.',
        parameters: { type: 'object', properties: {} },
        strict: true,
      },
      { type: 'function', name: sent, parameters: { type: 'object', properties: {} }, strict: false },
      { type: 'custom', name: 'c', format: { type: 'grammar', ...grammar } },
    ]);
    assert.deepEqual(body['tool_choice'], { type: 'custom', name: 'c' });
    assert.equal(body['parallel_tool_calls'], false);
    assert.deepEqual(dropped, ['tools[web_search_20250305]']);
  });

  it('chooses among some of the tools', () => {
    const toolChoice = { mode: 'allowed', names: ['f'], isRequired: true } as const;
    const tools = [
      { kind: 'function', name: 'f' },
      { kind: 'function', name: 'g' },
    ] as const;
    const { body } = write({ tools, toolChoice });
    assert.equal((body['tools'] as unknown[]).length, 2);
    assert.deepEqual(body['tool_choice'], {
      type: 'allowed_tools',
      mode: 'required',
      tools: [{ type: 'function', name: 'f' }],
    });
  });

  it('has what else both formats can say', () => {
    const schema = { type: 'object' };
    const { body, dropped } = write({
      outputCap: 50,
      sampling: { temperature: 0.5, topP: 0.9 },
      outputFormat: { type: 'jsonSchema', schema, strict: true },
      verbosity: 'low',
      isStream: true,
      userId: 'u',
      metadata: { a: 'b' },
      promptCacheKey: 'k',
      promptCacheRetention: '24h',
      serviceTier: 'flex',
    });
    assert.deepEqual(body, {
      model: 'm',
      input: [hi],
      max_output_tokens: 50,
      temperature: 0.5,
      top_p: 0.9,
      text: { format: { type: 'json_schema', name: 'answer', schema, strict: true }, verbosity: 'low' },
      stream: true,
      user: 'u',
      metadata: { a: 'b' },
      prompt_cache_key: 'k',
      prompt_cache_retention: '24h',
      service_tier: 'flex',
      store: false,
    });
    assert.deepEqual(dropped, []);
    const { body: other } = write({ outputFormat: { type: 'jsonObject' } });
    assert.deepEqual(other['text'], { format: { type: 'json_object' } });
  });

  it('names what it leaves out', () => {
    const { dropped } = write({
      sampling: { topK: 5, frequencyPenalty: 1, presencePenalty: 1, seed: 3, logitBias: { a: 1 } },
      logprobs: { top: 2 },
      store: true,
    });
    assert.deepEqual(dropped, [
      ...['top_k', 'seed', 'logit_bias', 'logprobs', 'store', 'frequency_penalty', 'presence_penalty'],
    ]);
  });

  it('names cache breakpoints and failed tools', () => {
    const cacheControl = {};
    const { dropped } = write(
      {
        instructions: [{ role: 'system', parts: [{ ...text('A'), cacheControl }] }],
        turns: [
          {
            role: 'assistant',
            parts: [{ type: 'toolCall', id: 'c', kind: 'function', name: 'f', arguments: '{}' }],
          },
          {
            role: 'user',
            parts: [
              { type: 'toolResult', callId: 'c', parts: [text('no such file')], isError: true },
              { type: 'document', source: { kind: 'url', url: 'u' }, context: 'a note' },
            ],
          },
        ],
      },
      'messages',
    );
    assert.deepEqual(dropped, ['cache_control', 'tool_result.is_error', 'document.context']);
  });

  for (const [param, members] of [
    ['stop', { stop: ['END'] }],
    ['n', { choices: 2 }],
    ['tool_choice', { toolChoice: { mode: 'hosted', type: 'web_search' } }],
  ] as const) {
    it(`is refused by name: ${param}`, () => {
      assert.throws(
        () => write(members),
        (error) => error instanceof BodyError && error.issue.param === param,
      );
    });
  }

  it('is not refused for one answer or no stop sequence', () => {
    assert.deepEqual(write({ stop: [], choices: 1 }).dropped, []);
  });
});
