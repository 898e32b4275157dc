import assert from 'node:assert/strict';
import { it } from 'node:test';
import { failedAnswer } from './whole-answer.ts';

for (const [words, message] of [
  ['no capacity', 'The provider did not give a usable answer: no capacity'],
  ['Prompt exceeds max length', 'prompt is too long: Prompt exceeds max length'],
] as const) {
  it(`502 with the provider's words: ${words}`, () => {
    const error = failedAnswer(words);
    assert.deepEqual([error.status, error.message, error.upstreamError], [502, message, words]);
  });
}
