import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inAnthropicsWords, isTooLong } from './context-length.ts';

describe('a conversation that is too long', () => {
  for (const message of [
    'prompt is too long: 210000 tokens > 200000 maximum',
    'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length',
    "This model's maximum context length is 102400 tokens. However, you requested 107837 tokens (99645 in the messages).",
    'Your input exceeds the context window of this model.',
    'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
    'request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it',
    "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
    'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    'Your request exceeded model token limit: 131072',
    'Range of input length should be [1, 129024]',
    '`inputs` tokens + `max_new_tokens` must be <= 4097.',
    'Input is too long for requested model.',
    'Context length exceeded',
  ]) {
    it(`is told from its words: ${message.slice(0, 50)}`, () => assert.ok(isTooLong(message)));
  }

  for (const code of ['context_length_exceeded', 'exceed_context_size_error', 'ContextWindowExceededError']) {
    it(`is told from its code: ${code}`, () => assert.ok(isTooLong('no', null, code)));
  }

  for (const message of [
    'max_tokens is too large: 64000. This model supports at most 16384 completion tokens.',
    "'max_tokens' or 'max_completion_tokens' is too large: 200000. This model's maximum context length is 131072 tokens.",
    'max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens',
    'Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 52000. Please reduce the length of the messages.',
    'Too many tokens, please wait before trying again.',
    'Incorrect API key provided.',
    '',
  ]) {
    it(`is not: ${message.slice(0, 50)}`, () =>
      assert.equal(isTooLong(message, 'invalid_value', 400), false));
  }

  it("is told in Anthropic's words, once", () => {
    assert.equal(inAnthropicsWords('9 > 8'), 'prompt is too long: 9 > 8');
    assert.equal(inAnthropicsWords('Prompt is too long: 9 > 8'), 'Prompt is too long: 9 > 8');
  });

  it('is looked for in the start of a text', () => {
    assert.equal(isTooLong('tokens '.repeat(1_000_000)), false);
  });
});
