import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { message, textMessage } from '../../testing/mock-messages.ts';
import { countTokens } from '../../tokens/count-tokens.ts';
import { UsageMember } from '../usage-figures.ts';
import { readMessagesAnswer } from './read-answer.ts';
import { readUsage } from './usage.ts';

const read = (answer: unknown) => readMessagesAnswer(Buffer.from(JSON.stringify(answer)));

describe('a message that came whole', () => {
  it('states its usage', () => {
    const content = read(textMessage('Hé☕', { input_tokens: 9, output_tokens: 4 }));
    assert.deepEqual(content?.usage, { promptTokens: 9, completionTokens: 4 });
    assert.deepEqual(
      [content?.hasContent, content?.hasReasoning, content?.generated.isEmpty],
      [true, false, true],
    );
  });

  it('is counted when it does not', async () => {
    const blocks = [
      { type: 'thinking', thinking: 'hm', signature: 'abcabcabc' },
      { type: 'text', text: 'hm' },
      { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } },
      { type: 'web_search_tool_result', content: 'x'.repeat(500) },
      null,
      'text',
    ];
    const content = read({ ...message([]), content: blocks });
    assert.equal(content?.usage, undefined);
    assert.deepEqual([content?.hasContent, content?.hasReasoning], [true, true]);
    const expected = await countTokens(['hm', 'hm', 'f', '{"a":1}']);
    assert.equal(await content?.generated.countTokens(countTokens), expected);
  });

  it('has reasoning that is only in the usage', () => {
    const usage = { input_tokens: 9, output_tokens: 4, output_tokens_details: { thinking_tokens: 2 } };
    assert.equal(read(textMessage('x', usage))?.hasReasoning, true);
  });

  for (const [title, answer, error] of [
    ['none', { content: [] }, null],
    ['its message', { content: [], error: { type: 'x', message: 'no' } }, 'no'],
    ['nothing that is understood', { content: [], error: {} }, null],
    [
      'that the provider aborted it',
      { content: [], stop_reason: 'error' },
      'the provider ended the answer with an error',
    ],
  ] as const) {
    it(`keeps of an error inside it ${title}`, () => assert.equal(read(answer)?.upstreamError, error));
  }

  it('is none when it is no object, has no list of blocks, is no JSON, or too large a structure', () => {
    for (const value of [[], {}, { content: null }, { content: { type: 'text', text: 'x' } }])
      assert.equal(read(value), undefined);
    assert.equal(readMessagesAnswer(Buffer.from('{"content":')), undefined);
    assert.equal(readMessagesAnswer(Buffer.from(`[${'{},'.repeat(600_000)}{}]`)), undefined);
  });

  it('has its usage read while nothing else is kept', () => {
    const bytes = Buffer.from(
      JSON.stringify(textMessage('"usage":{"input_tokens":1}', { input_tokens: 9, output_tokens: 4 })),
    );
    const usage = new UsageMember(readUsage);
    for (const byte of bytes) usage.push(Buffer.of(byte));
    assert.deepEqual(usage.usage, { promptTokens: 9, completionTokens: 4 });
  });
});
