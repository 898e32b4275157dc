import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomFrom } from '../journal/testing/random.ts';
import type { Usage } from './protocol.ts';
import { type StatedUsage, serverToolCalls, usageOf } from './usage-figures.ts';

const MOST = Number.MAX_SAFE_INTEGER;

describe('usageOf', () => {
  const whole = { promptCovers: 'everything', prompt: 100, completion: 50 } as const;
  const uncached = { promptCovers: 'uncached', prompt: 3, completion: 550 } as const;
  const same = { promptTokens: 100, completionTokens: 50 };
  for (const [title, stated, usage] of [
    ['the two totals', whole, same],
    [
      'cache counts beside the prompt',
      { ...uncached, cacheRead: 0, cacheWrite: 12_304 },
      { promptTokens: 12_307, completionTokens: 550, cacheReadTokens: 0, cacheWriteTokens: 12_304 },
    ],
    [
      'a write that is split',
      { ...uncached, cacheWrite: 100, cacheWrite5m: 30, cacheWrite1h: 70 },
      { promptTokens: 103, completionTokens: 550, cacheWriteTokens: 100, cacheWrite1hTokens: 70 },
    ],
    [
      'a split without its total',
      { ...uncached, cacheWrite5m: 30, cacheWrite1h: 70 },
      { promptTokens: 103, completionTokens: 550, cacheWriteTokens: 100, cacheWrite1hTokens: 70 },
    ],
    [
      'the one-hour part of a write alone',
      { ...uncached, cacheWrite: 100, cacheWrite1h: 20 },
      { promptTokens: 103, completionTokens: 550, cacheWriteTokens: 100, cacheWrite1hTokens: 20 },
    ],
    [
      'a split below its total: the rest was written for an hour',
      { ...uncached, cacheWrite: 100, cacheWrite5m: 30, cacheWrite1h: 20 },
      {
        promptTokens: 103,
        completionTokens: 550,
        cacheWriteTokens: 100,
        cacheWrite1hTokens: 70,
        isContradictory: true,
      },
    ],
    [
      'a split above its total',
      { ...uncached, cacheWrite: 10, cacheWrite5m: 30, cacheWrite1h: 20 },
      {
        promptTokens: 53,
        completionTokens: 550,
        cacheWriteTokens: 50,
        cacheWrite1hTokens: 20,
        isContradictory: true,
      },
    ],
    [
      'a cache read beside the prompt, as the total says',
      { ...whole, cacheRead: 30, total: 180 },
      { promptTokens: 130, completionTokens: 50, cacheReadTokens: 30 },
    ],
    [
      'cache and reasoning beside the totals, as the total says',
      { ...whole, cacheRead: 30, reasoning: 7, total: 187 },
      { promptTokens: 130, completionTokens: 57, cacheReadTokens: 30, reasoningTokens: 7 },
    ],
    [
      'reasoning within the completion, as the total says',
      { ...whole, reasoning: 7, total: 150 },
      { ...same, reasoningTokens: 7 },
    ],
    ['reasoning, without a total', { ...whole, reasoning: 50 }, { ...same, reasoningTokens: 50 }],
    [
      'more reasoning than completion',
      { ...whole, reasoning: 51 },
      { promptTokens: 100, completionTokens: 51, isContradictory: true },
    ],
    [
      'more cached than asked',
      { ...whole, cacheRead: 60, cacheWrite: 41 },
      { promptTokens: 101, completionTokens: 50, isContradictory: true },
    ],
    [
      'a total with an excess of no known kind',
      { ...whole, reasoning: 0, total: 151 },
      { promptTokens: 100, completionTokens: 51, reasoningTokens: 0, isContradictory: true },
    ],
    [
      'reasoning that the total alone states',
      { prompt: 20, promptCovers: 'everything', completion: 424, total: 1_016 },
      { promptTokens: 20, completionTokens: 996, reasoningTokens: 572 },
    ],
    ['a total that is too small', { ...whole, total: 149 }, { ...same, isContradictory: true }],
    [
      'figures that are no counts',
      { ...whole, total: 1.5, cacheRead: -1, cacheWrite: '3', reasoning: null },
      same,
    ],
    ['nothing where the prompt is no count', { ...whole, prompt: -1 }, undefined],
    ['nothing where the completion is no count', { ...whole, completion: 2 ** 53 }, undefined],
    [
      'calls that are counts',
      { ...whole, calls: { web_search: 2, web_fetch: -1, other: null } },
      { ...same, calls: { web_search: 2 } },
    ],
    [
      'calls named like a prototype',
      { ...whole, calls: JSON.parse('{"__proto__": 2}') },
      { ...same, calls: JSON.parse('{"__proto__": 2}') },
    ],
    [
      'sums that no number holds',
      { ...uncached, cacheRead: MOST, cacheWrite: MOST },
      { promptTokens: MOST, completionTokens: 550, isContradictory: true },
    ],
  ] satisfies readonly (readonly [string, StatedUsage, Usage | undefined])[]) {
    it(`is ${title}`, () => assert.deepEqual(usageOf(stated), usage));
  }

  it('keeps at most 16 names of calls, of at most 64 characters', () => {
    const names = Array.from({ length: 100 }, (_, n) => [`tool_${n}`, 1]);
    const calls = { ['x'.repeat(65)]: 1, ...Object.fromEntries(names) };
    const kept = Object.keys(usageOf({ ...whole, calls })?.calls ?? {});
    assert.deepEqual(
      kept,
      names.slice(0, 16).map(([name]) => name),
    );
  });

  it('has parts within its totals, and totals never below what was stated', () => {
    const random = randomFrom(12);
    const figure = () => {
      const kind = random();
      if (kind < 0.25) return undefined;
      if (kind < 0.3) return MOST - Math.floor(random() * 3);
      return Math.floor(random() * 10 ** Math.floor(random() * 6));
    };
    let contradictions = 0;
    for (let n = 0; n < 20_000; n += 1) {
      const [prompt, completion, read] = [figure() ?? 0, figure() ?? 0, figure()];
      const agreeing = prompt + completion + (random() < 0.5 ? (read ?? 0) : 0);
      const stated: StatedUsage = {
        prompt,
        promptCovers: random() < 0.5 ? 'everything' : 'uncached',
        completion,
        total: random() < 0.5 ? agreeing : figure(),
        cacheRead: read,
        cacheWrite: figure(),
        cacheWrite5m: figure(),
        cacheWrite1h: figure(),
        reasoning: figure(),
      };
      const usage = usageOf(stated);
      assert.ok(usage);
      const { promptTokens, completionTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
      const { cacheWrite1hTokens = 0, reasoningTokens = 0, isContradictory } = usage;
      contradictions += isContradictory ? 1 : 0;
      assert.ok(Number.isSafeInteger(promptTokens) && Number.isSafeInteger(completionTokens));
      assert.ok(cacheReadTokens + cacheWriteTokens <= promptTokens);
      assert.ok(cacheWrite1hTokens <= cacheWriteTokens);
      assert.ok(reasoningTokens <= completionTokens);
      assert.ok(promptTokens >= (stated.prompt as number));
      assert.ok(completionTokens >= (stated.completion as number));
      const sum = promptTokens + completionTokens;
      if (Number.isSafeInteger(stated.total)) {
        assert.ok(sum >= (stated.total as number));
        // The parts sum to the provider's own total, or it is said that they do not.
        if (!isContradictory) assert.equal(sum, stated.total);
      }
    }
    assert.ok(contradictions > 5_000 && contradictions < 19_500, `${contradictions}`);
  });
});

describe('serverToolCalls', () => {
  it('names what was requested', () => {
    const calls = serverToolCalls({ web_search_requests: 3, web_fetch_requests: 0, other: 7 });
    assert.deepEqual(calls, { web_search: 3, web_fetch: 0 });
    assert.equal(serverToolCalls([1]), undefined);
    assert.equal(serverToolCalls(undefined), undefined);
  });
});
