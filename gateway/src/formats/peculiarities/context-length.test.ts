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
    'Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.',
    'Too many input tokens. Max input tokens: 8192, request input token count: 10000',
    'Unable to submit request because the input token count is 40000 but model only supports up to 32768.',
    'too many tokens: total number of tokens in the prompt cannot exceed 128000 - received 140000.',
    'The decoder prompt (length 5000) is longer than the maximum model length of 4096.',
    'max_tokens must be at least 1, got -1234.',
    'Input length (5000 tokens) exceeds the maximum allowed length (4096 tokens).',
    'Input length 131393 exceeds the maximum allowed input length of 131040 tokens.',
    'The number of tokens to keep from the initial prompt is greater than the context length.',
    'The model is loaded with context length of only 4096 tokens, which is not enough.',
    'The limit was passed, so provide a shorter input.',
    'Prompt exceeds max length',
    'Prompt 超长',
    'Total message token length exceed model limit',
    'Total tokens of image and text exceed max message tokens. Request id: 02',
    'Input tokens exceed the configured limit of 192000 tokens.',
    'length of prompt_tokens (40000) must be less than max_seq_len (32768).',
    'prompt token count of 130000 exceeds the limit of 128000',
    'invalid params, context window exceeds limit (2013)',
    'the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model',
    'prompt too long; exceeded max length by 123 tokens',
    'the input content length is too long, max length is 20000',
  ]) {
    it(`is told from its words: ${message.slice(0, 50)}`, () => assert.ok(isTooLong(message)));
  }

  for (const code of [
    'context_length_exceeded',
    'exceed_context_size_error',
    'ContextWindowExceededError',
    '1261',
  ]) {
    it(`is told from its code: ${code}`, () => assert.ok(isTooLong('no', null, code)));
  }

  for (const message of [
    'max_tokens is too large: 64000. This model supports at most 16384 completion tokens.',
    "'max_tokens' or 'max_completion_tokens' is too large: 200000. This model's maximum context length is 131072 tokens.",
    'max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens',
    'Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 52000. Please reduce the length of the messages.',
    'Too many tokens, please wait before trying again.',
    'max_tokens must be at least 1, got 0.',
    'The maximum tokens you requested exceeds the model limit of 4096. Try again with a lower maximum tokens value.',
    'Rate limit reached for model on input tokens per minute. Limit: 30000',
    'tools.0.name: string is too long, expected a string with maximum length 64, but got 70',
    "max_completion_tokens (200000) exceeds the model's maximum output length of 8192",
    'messages.0.content: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes',
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
