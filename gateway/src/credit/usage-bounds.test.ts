import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { boundedUsage, mostCompletionTokens, mostPromptTokens } from './usage-bounds.ts';

describe('the most tokens of a prompt', () => {
  const text = { promptTokens: 300, uncountableParts: [], toolTypes: [] };
  for (const [title, call, maxInputTokens, most] of [
    ['the bytes that were sent, and its frame', text, null, 5_096],
    ['the same with tools that are described', { ...text, toolTypes: ['function', 'custom'] }, null, 5_096],
    ['a whole context more with a picture', { ...text, uncountableParts: ['image_url'] }, null, 2_102_248],
    ['a whole context more with a tool that reads', { ...text, toolTypes: ['web_search'] }, null, 2_102_248],
    ["the route's context", text, 128_000, 128_000],
    ['what was counted here, where that is more', { ...text, promptTokens: 75_000 }, 2_000, 75_000],
    [
      'the same for every turn of a tool that the provider runs',
      { ...text, promptTokens: 75_000, toolTypes: ['web_search'] },
      2_000,
      750_000,
    ],
    ["the route's context with a picture", { ...text, uncountableParts: ['image_url'] }, 128_000, 128_000],
    [
      'ten contexts with a tool that the provider runs',
      { ...text, toolTypes: ['web_search'] },
      128_000,
      1_280_000,
    ],
    [
      'no more than a number holds, with a tool',
      { ...text, toolTypes: ['web_search'] },
      2 ** 52,
      Number.MAX_SAFE_INTEGER,
    ],
    ['no more than a number holds', text, 2 ** 60, Number.MAX_SAFE_INTEGER],
  ] as const) {
    it(`are ${title}`, () => assert.equal(mostPromptTokens({ maxInputTokens }, call, 1_000), most));
  }
});

describe('the most tokens of an answer', () => {
  for (const [maxOutputTokens, choices, most] of [
    [1_000, 1, 1_000],
    [1_000, 4, 4_000],
    [2 ** 60, 128, Number.MAX_SAFE_INTEGER],
  ] as const) {
    it(`are ${most} for ${maxOutputTokens} and ${choices} choices`, () =>
      assert.equal(mostCompletionTokens({ maxOutputTokens }, choices), most));
  }
});

describe('boundedUsage', () => {
  const bounds = { promptTokens: 100, completionTokens: 50 };
  for (const usage of [
    { promptTokens: 100, completionTokens: 50 },
    { promptTokens: 0, completionTokens: 0, cacheReadTokens: 0 },
    { promptTokens: 100, completionTokens: 50, calls: { web_search: 1_000 } },
  ]) {
    it(`believes ${JSON.stringify(usage)}`, () => assert.equal(boundedUsage(usage, bounds), usage));
  }
  for (const [usage, bounded] of [
    [
      { promptTokens: 101, completionTokens: 5 },
      { promptTokens: 100, completionTokens: 5 },
    ],
    [
      { promptTokens: 5, completionTokens: 51 },
      { promptTokens: 5, completionTokens: 50 },
    ],
    [{ promptTokens: 2 ** 53 - 1, completionTokens: 2 ** 53 - 1 }, bounds],
    [
      { promptTokens: 500, completionTokens: 5, cacheReadTokens: 80, cacheWriteTokens: 300 },
      { promptTokens: 100, completionTokens: 5, cacheReadTokens: 80, cacheWriteTokens: 20 },
    ],
    [
      { promptTokens: 500, completionTokens: 5, cacheReadTokens: 400, cacheWriteTokens: 50 },
      { promptTokens: 100, completionTokens: 5, cacheReadTokens: 100, cacheWriteTokens: 0 },
    ],
    [
      {
        promptTokens: 100,
        completionTokens: 60,
        cacheWriteTokens: 90,
        cacheWrite1hTokens: 80,
        reasoningTokens: 55,
        isContradictory: true,
      },
      {
        promptTokens: 100,
        completionTokens: 50,
        cacheWriteTokens: 90,
        cacheWrite1hTokens: 80,
        reasoningTokens: 50,
        isContradictory: true,
      },
    ],
    [
      { promptTokens: 500, completionTokens: 5, cacheWriteTokens: 400, cacheWrite1hTokens: 350 },
      { promptTokens: 100, completionTokens: 5, cacheWriteTokens: 100, cacheWrite1hTokens: 100 },
    ],
    [
      { promptTokens: 1, completionTokens: 1, calls: { web_search: 1_001, web_fetch: 3 } },
      { promptTokens: 1, completionTokens: 1, calls: { web_search: 1_000, web_fetch: 3 } },
    ],
  ] as const) {
    it(`makes ${JSON.stringify(bounded)} of ${JSON.stringify(usage)}`, () =>
      assert.deepEqual(boundedUsage(usage, bounds), bounded));
  }
});
