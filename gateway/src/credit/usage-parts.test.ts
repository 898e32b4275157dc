import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomFrom } from '../journal/testing/random.ts';
import { partsOf } from './usage-parts.ts';

const NONE = {
  uncachedTokens: 0,
  cacheReadTokens: 0,
  cacheWrite5mTokens: 0,
  cacheWrite1hTokens: 0,
  visibleTokens: 0,
  reasoningTokens: 0,
};

describe('partsOf', () => {
  for (const [usage, parts] of [
    [
      { promptTokens: 9, completionTokens: 4 },
      { uncachedTokens: 9, visibleTokens: 4 },
    ],
    [
      {
        promptTokens: 100,
        completionTokens: 50,
        cacheReadTokens: 20,
        cacheWriteTokens: 30,
        cacheWrite1hTokens: 10,
        reasoningTokens: 45,
      },
      {
        uncachedTokens: 50,
        cacheReadTokens: 20,
        cacheWrite5mTokens: 20,
        cacheWrite1hTokens: 10,
        visibleTokens: 5,
        reasoningTokens: 45,
      },
    ],
    [
      { promptTokens: 10, completionTokens: 1, cacheReadTokens: 7, cacheWriteTokens: 7, reasoningTokens: 2 },
      { cacheReadTokens: 7, cacheWrite5mTokens: 3, reasoningTokens: 1 },
    ],
  ]) {
    it(`are ${JSON.stringify(parts)} of ${JSON.stringify(usage)}`, () =>
      assert.deepEqual(partsOf(usage as Parameters<typeof partsOf>[0]), { ...NONE, ...parts }));
  }

  it('add up to the totals, and none is below 0, whatever is said', () => {
    const random = randomFrom(5);
    const figure = () => Math.floor(random() * 10 ** Math.floor(random() * 16));
    for (let n = 0; n < 20_000; n += 1) {
      const usage = {
        promptTokens: figure(),
        completionTokens: figure(),
        cacheReadTokens: figure(),
        cacheWriteTokens: figure(),
        cacheWrite1hTokens: figure(),
        reasoningTokens: figure(),
      };
      const parts = partsOf(usage);
      const { uncachedTokens, cacheReadTokens, cacheWrite5mTokens, cacheWrite1hTokens } = parts;
      assert.ok(Object.values(parts).every((tokens) => tokens >= 0));
      assert.equal(
        uncachedTokens + cacheReadTokens + cacheWrite5mTokens + cacheWrite1hTokens,
        usage.promptTokens,
      );
      assert.equal(parts.visibleTokens + parts.reasoningTokens, usage.completionTokens);
    }
  });
});
