import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../wire/json.ts';
import type { Answer, StopReason } from '../translation/answer.ts';
import type { AssistantPart } from '../translation/conversation.ts';
import { sealToText } from '../translation/reasoning.ts';
import type { TranslationNotes } from '../translation/translator.ts';
import { readAnswer } from './read-answer.ts';
import { echoOf, writeAnswer } from './response-object.ts';

const read = (answer: JsonObject) => readAnswer(answer, () => answer, notes);
const notes: TranslationNotes = {
  model: 'm',
  requestId: 'a-b-c',
  createdSeconds: 7,
  promptTokens: 3,
  showsUsage: true,
  customTools: [],
  toolNames: {},
};

function answerOf(parts: readonly AssistantPart[], reason: StopReason = 'stop'): Answer {
  return {
    id: 'chatcmpl-1',
    model: 'm-2026',
    parts,
    stop: { reason },
    usage: { promptTokens: 20, completionTokens: 9, cacheReadTokens: 5, reasoningTokens: 4 },
    serviceTier: 'flex',
  };
}

const text = (value: string): AssistantPart => ({ type: 'text', text: value });
const call = (kind: 'function' | 'custom'): AssistantPart => ({
  type: 'toolCall',
  id: `call_${kind}`,
  kind,
  name: kind,
  arguments: '{"a":1}',
});

describe('writeAnswer', () => {
  it('writes every kind of part as items', () => {
    const seal = { kind: 'signature', value: 'EqQB' } as const;
    const written = writeAnswer(
      answerOf(
        [
          { type: 'reasoning', text: 'I think.', seal },
          text('A'),
          text('B'),
          call('function'),
          call('custom'),
        ],
        'toolCalls',
      ),
      { ...notes, namespaces: { function: { namespace: 'n', name: 'f' } } },
    );
    const part = (value: string) => ({ type: 'output_text', text: value, annotations: [], logprobs: [] });
    assert.deepEqual(written, {
      id: 'resp_abc',
      object: 'response',
      created_at: 7,
      status: 'completed',
      background: false,
      error: null,
      incomplete_details: null,
      instructions: null,
      max_output_tokens: null,
      max_tool_calls: null,
      metadata: {},
      model: 'm-2026',
      output: [
        {
          id: 'rs_abc_0',
          type: 'reasoning',
          summary: [{ type: 'summary_text', text: 'I think.' }],
          encrypted_content: sealToText(seal),
        },
        {
          id: 'msg_abc_1',
          type: 'message',
          status: 'completed',
          role: 'assistant',
          content: [part('A'), part('B')],
        },
        {
          id: 'fc_abc_2',
          type: 'function_call',
          status: 'completed',
          call_id: 'call_function',
          name: 'f',
          namespace: 'n',
          arguments: '{"a":1}',
        },
        {
          id: 'ctc_abc_3',
          type: 'custom_tool_call',
          status: 'completed',
          call_id: 'call_custom',
          name: 'custom',
          input: '{"a":1}',
        },
      ],
      parallel_tool_calls: true,
      previous_response_id: null,
      prompt_cache_key: null,
      reasoning: { effort: null, summary: null },
      safety_identifier: null,
      service_tier: 'flex',
      store: false,
      temperature: null,
      text: { format: { type: 'text' } },
      tool_choice: 'auto',
      tools: [],
      top_logprobs: 0,
      top_p: null,
      truncation: 'disabled',
      usage: {
        input_tokens: 20,
        input_tokens_details: { cached_tokens: 5 },
        output_tokens: 9,
        output_tokens_details: { reasoning_tokens: 4 },
        total_tokens: 29,
      },
      user: null,
    });
  });

  it('repeats small members of the request, and no tools', () => {
    const tools = [{ type: 'function', name: 'f' }];
    const schema = { type: 'object', description: 'x'.repeat(5_000) };
    const body = {
      temperature: 0.5,
      tool_choice: 'required',
      metadata: { a: 'b' },
      tools,
      instructions: 'Be brief.',
      text: { format: { type: 'json_schema', name: 'n', schema } },
      store: true,
      user: null,
    };
    const written = writeAnswer(answerOf([text('A')]), { ...notes, echo: echoOf(body) });
    assert.equal(written['temperature'], 0.5);
    assert.equal(written['tool_choice'], 'required');
    assert.deepEqual(written['metadata'], { a: 'b' });
    assert.deepEqual(written['tools'], []);
    assert.equal(written['instructions'], null);
    assert.deepEqual(written['text'], { format: { type: 'text' } });
    assert.equal(written['store'], false);
    assert.equal(written['user'], null);
  });

  it('has all members of text and reasoning where the request states some', () => {
    const echo = echoOf({ text: { verbosity: 'low' }, reasoning: { effort: 'high' } });
    const written = writeAnswer(answerOf([text('A')]), { ...notes, echo });
    assert.deepEqual(written['text'], { format: { type: 'text' }, verbosity: 'low' });
    assert.deepEqual(written['reasoning'], { effort: 'high', summary: null });
  });

  it('does not take a tool for one of a namespace because of its name', () => {
    const named: AssistantPart = {
      type: 'toolCall',
      id: 'c',
      kind: 'function',
      name: 'toString',
      arguments: '',
    };
    const written = writeAnswer(answerOf([named]), { ...notes, namespaces: {} });
    assert.equal((written['output'] as JsonObject[])[0]?.['name'], 'toString');
  });

  for (const [reason, status, details, last] of [
    ['length', 'incomplete', { reason: 'max_output_tokens' }, 'incomplete'],
    ['contentFilter', 'incomplete', { reason: 'content_filter' }, 'incomplete'],
    ['toolCalls', 'completed', null, 'completed'],
  ] as const) {
    it(`says ${status} where the model stopped for ${reason}`, () => {
      const written = writeAnswer(answerOf([text('A'), call('function')], reason), notes);
      assert.equal(written['status'], status);
      assert.deepEqual(written['incomplete_details'], details);
      const output = written['output'] as JsonObject[];
      assert.deepEqual(
        output.map((item) => item['status']),
        ['completed', last],
      );
    });
  }
});

describe('readAnswer', () => {
  it('reads what was written', () => {
    const parts = [
      { type: 'reasoning', text: 'I think.', seal: { kind: 'signature', value: 'EqQB' } } as const,
      text('A'),
      call('function'),
      call('custom'),
    ];
    for (const reason of ['toolCalls', 'length', 'contentFilter'] as const) {
      const answer = answerOf(parts, reason);
      const back = read(writeAnswer(answer, notes));
      assert.deepEqual(back, { ...answer, id: 'resp_abc', createdSeconds: 7 });
    }
  });

  it('reads an answer of OpenAI with items that no other format has', () => {
    const answer = read({
      id: 'resp_1',
      created_at: 9,
      model: 'gpt-5-mini',
      status: 'completed',
      output: [
        { type: 'web_search_call', id: 'ws_1', status: 'completed' },
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [
            { type: 'summary_text', text: 'One.' },
            { type: 'summary_text', text: 'Two.' },
          ],
          encrypted_content: 'gAAAA',
        },
        { type: 'message', content: [{ type: 'refusal', refusal: 'No.' }] },
      ],
    });
    assert.deepEqual(answer, {
      id: 'resp_1',
      createdSeconds: 9,
      model: 'gpt-5-mini',
      parts: [
        {
          type: 'reasoning',
          text: 'One.\n\nTwo.',
          seal: { kind: 'encrypted', value: 'gAAAA', id: 'rs_1' },
        },
        { type: 'refusal', text: 'No.' },
      ],
      stop: { reason: 'refusal' },
    });
  });

  for (const answer of [
    { output: [], usage: 5, created_at: 'now', id: 5 },
    { output: [null, 5, [], { type: 'message' }, { type: 'message', content: [null, { text: 5 }] }] },
    { output: [{ type: 'reasoning', summary: [5], content: {} }] },
    { output: [], status: 'incomplete', incomplete_details: 'x' },
  ]) {
    it(`makes an empty answer of ${JSON.stringify(answer).slice(0, 60)}`, () => {
      const { parts, usage } = read(answer) ?? {};
      assert.deepEqual({ parts, usage }, { parts: [], usage: undefined });
    });
  }

  for (const answer of [
    {},
    { output: 'x' },
    { output: [], status: 'failed', error: { message: 'Broken.' } },
    { error: { message: 'Broken.' } },
  ]) {
    it(`takes for no answer: ${JSON.stringify(answer)}`, () => assert.equal(read(answer), undefined));
  }

  it('reads the content of a message that is a text', () => {
    const output = [{ type: 'message', role: 'assistant', content: 'Hi' }];
    assert.deepEqual(read({ output })?.parts, [{ type: 'text', text: 'Hi' }]);
  });

  it('gives a call an id where the provider did not', () => {
    const output = [{ type: 'function_call', name: 'f', arguments: '{}' }];
    assert.deepEqual(read({ output })?.parts, [
      { type: 'toolCall', id: 'call_abc_0', kind: 'function', name: 'f', arguments: '{}' },
    ]);
  });
});
