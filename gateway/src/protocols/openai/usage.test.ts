import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasReasoningTokens, readUsage } from './usage.ts';

const counts = { promptTokens: 9, completionTokens: 4 };

describe('readUsage', () => {
  for (const [title, value, usage] of [
    ['nothing', undefined, undefined],
    ['null', null, undefined],
    ['a list', [9, 4], undefined],
    ['the two that are priced', '{"prompt_tokens":9,"completion_tokens":4}', counts],
    ['one alone', '{"prompt_tokens":9}', undefined],
    ['a text', '{"prompt_tokens":"9","completion_tokens":4}', undefined],
    ['null in it', '{"prompt_tokens":9,"completion_tokens":null}', undefined],
    ['less than none', '{"prompt_tokens":9,"completion_tokens":-4}', undefined],
    ['half a token', '{"prompt_tokens":9,"completion_tokens":4.5}', undefined],
    ['more than a number holds', '{"prompt_tokens":9,"completion_tokens":1e300}', undefined],
    ['no number at all', '{"prompt_tokens":9,"completion_tokens":1e999}', undefined],
    [
      'much, for the meter to judge',
      '{"prompt_tokens":9,"completion_tokens":9007199254740991}',
      { promptTokens: 9, completionTokens: 2 ** 53 - 1 },
    ],
    ['a total below its parts', '{"prompt_tokens":9,"completion_tokens":4,"total_tokens":1}', counts],
    ['a total beyond its parts', '{"prompt_tokens":9,"completion_tokens":4,"total_tokens":1e12}', counts],
    [
      'what the cache served',
      '{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":9}}',
      { ...counts, cacheReadTokens: 9 },
    ],
    [
      'more served by the cache than was asked',
      '{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":10}}',
      counts,
    ],
    [
      'details that are none',
      '{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":[1]}',
      counts,
    ],
    ['one figure twice', '{"prompt_tokens":9,"completion_tokens":99,"completion_tokens":4}', counts],
  ] as const) {
    it(`is ${JSON.stringify(usage)} for ${title}`, () => {
      assert.deepEqual(readUsage(typeof value === 'string' ? JSON.parse(value) : value), usage);
    });
  }
});

describe('hasReasoningTokens', () => {
  for (const [details, has] of [
    [{ reasoning_tokens: 1 }, true],
    [{ reasoning_tokens: 0 }, false],
    [{ reasoning_tokens: '1' }, false],
    [null, false],
  ] as const) {
    it(`is ${has} for ${JSON.stringify(details)}`, () =>
      assert.equal(hasReasoningTokens({ completion_tokens_details: details }), has));
  }
});
