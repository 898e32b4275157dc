import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readUsage, UsageTally } from './usage.ts';

const counts = { promptTokens: 9, completionTokens: 4 };
const plain = { input_tokens: 9, output_tokens: 4 };

describe('the usage of a message', () => {
  for (const [title, value, usage] of [
    ['nothing', undefined, undefined],
    ['null', null, undefined],
    ['a list', [9, 4], undefined],
    ['the two figures that are always there', plain, counts],
    ['the prompt alone', { input_tokens: 9 }, undefined],
    ['the output alone', { output_tokens: 4 }, undefined],
    ['a text', { input_tokens: '9', output_tokens: 4 }, undefined],
    ['less than none', { input_tokens: 9, output_tokens: -4 }, undefined],
    ['half a token', { input_tokens: 9.5, output_tokens: 4 }, undefined],
    ['more than a number holds', { input_tokens: 1e300, output_tokens: 4 }, undefined],
    [
      'much, for the meter to judge',
      { input_tokens: 9, output_tokens: 2 ** 53 - 1 },
      { promptTokens: 9, completionTokens: 2 ** 53 - 1 },
    ],
    [
      'parts whose sum no number holds',
      { input_tokens: 2 ** 53 - 1, cache_read_input_tokens: 2 ** 53 - 1, output_tokens: 4 },
      { promptTokens: 2 ** 53 - 1, completionTokens: 4, isContradictory: true },
    ],
    [
      "OpenAI's names, whose prompt covers the cache",
      { prompt_tokens: 9, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 7 } },
      { ...counts, cacheReadTokens: 7 },
    ],
    [
      "both names, where Anthropic's count",
      { ...plain, prompt_tokens: 90, completion_tokens: 40, cached_tokens: 7 },
      counts,
    ],
    [
      'a cache that is not used',
      { ...plain, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
      { ...counts, cacheReadTokens: 0, cacheWriteTokens: 0 },
    ],
    [
      'caches that are null',
      { ...plain, cache_creation_input_tokens: null, cache_read_input_tokens: null, cache_creation: null },
      counts,
    ],
    [
      'a prompt that is written to the cache',
      {
        input_tokens: 3,
        cache_creation_input_tokens: 12_304,
        cache_read_input_tokens: 0,
        output_tokens: 550,
      },
      { promptTokens: 12_307, completionTokens: 550, cacheReadTokens: 0, cacheWriteTokens: 12_304 },
    ],
    [
      'writes for five minutes and for an hour',
      {
        ...plain,
        cache_creation_input_tokens: 150,
        cache_creation: { ephemeral_5m_input_tokens: 50, ephemeral_1h_input_tokens: 100 },
      },
      { promptTokens: 159, completionTokens: 4, cacheWriteTokens: 150, cacheWrite1hTokens: 100 },
    ],
    [
      'writes without their total',
      { ...plain, cache_creation: { ephemeral_1h_input_tokens: 100 } },
      { promptTokens: 109, completionTokens: 4, cacheWriteTokens: 100, cacheWrite1hTokens: 100 },
    ],
    [
      'a total of writes that is not their sum',
      {
        ...plain,
        cache_creation_input_tokens: 10,
        cache_creation: { ephemeral_5m_input_tokens: 50, ephemeral_1h_input_tokens: 100 },
      },
      {
        promptTokens: 159,
        completionTokens: 4,
        cacheWriteTokens: 150,
        cacheWrite1hTokens: 100,
        isContradictory: true,
      },
    ],
    [
      'thinking',
      { ...plain, output_tokens_details: { thinking_tokens: 3 } },
      { ...counts, reasoningTokens: 3 },
    ],
    [
      'more thinking than output',
      { ...plain, output_tokens_details: { thinking_tokens: 7 } },
      { promptTokens: 9, completionTokens: 7, isContradictory: true },
    ],
    [
      'the calls of hosted tools',
      {
        ...plain,
        server_tool_use: { web_search_requests: 2, web_fetch_requests: 0, odd_requests: -1 },
      },
      { ...counts, calls: { web_search: 2, web_fetch: 0 } },
    ],
    [
      'a compaction, which the totals leave out',
      {
        ...plain,
        cache_read_input_tokens: 1,
        iterations: [
          { type: 'compaction', input_tokens: 100, cache_creation_input_tokens: 20, output_tokens: 30 },
          { type: 'message', input_tokens: 9, cache_read_input_tokens: 1, output_tokens: 4 },
          null,
          { type: 'compaction' },
        ],
      },
      { promptTokens: 130, completionTokens: 34, cacheReadTokens: 1, cacheWriteTokens: 20 },
    ],
  ] as const) {
    it(`is ${JSON.stringify(usage)} for ${title}`, () => assert.deepEqual(readUsage(value), usage));
  }
});

describe('the usage of a stream', () => {
  const start = {
    input_tokens: 4,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 2_455,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: 1,
  };
  const merged = (...values: unknown[]) => {
    const tally = new UsageTally();
    for (const value of values) tally.add(value);
    return tally.usage;
  };
  const usage = {
    promptTokens: 2_459,
    completionTokens: 23,
    cacheReadTokens: 2_455,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
  };

  for (const [title, values, expected] of [
    ['the output at the end', [start, { output_tokens: 23 }], usage],
    ['nulls at the end', [start, { input_tokens: null, output_tokens: 23 }], usage],
    ['everything again at the end', [start, { ...start, output_tokens: 23 }], usage],
    [
      'zeros for the prompt at the end',
      [start, { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 23 }],
      usage,
    ],
    [
      'the prompt at the end only',
      [
        { input_tokens: 0, output_tokens: 0 },
        { input_tokens: 5, cache_read_input_tokens: 6, output_tokens: 7 },
      ],
      { promptTokens: 11, completionTokens: 7, cacheReadTokens: 6 },
    ],
    ['more than one end', [start, { output_tokens: 9 }, { output_tokens: 23 }], usage],
    ['an end that cannot be true', [start, { output_tokens: 23 }, { output_tokens: -5 }], usage],
    [
      'a prompt that grows with what a hosted tool finds',
      [start, { input_tokens: 5_000, output_tokens: 23, server_tool_use: { web_search_requests: 1 } }],
      { ...usage, promptTokens: 7_455, calls: { web_search: 1 } },
    ],
    [
      'fewer writes at the end than the start says for an hour',
      [
        { input_tokens: 1, cache_creation: { ephemeral_1h_input_tokens: 100 }, output_tokens: 1 },
        { cache_creation_input_tokens: 60, output_tokens: 2 },
      ],
      {
        promptTokens: 101,
        completionTokens: 2,
        cacheWriteTokens: 100,
        cacheWrite1hTokens: 100,
        isContradictory: true,
      },
    ],
    [
      'more writes at the end than the start splits',
      [
        {
          input_tokens: 1,
          cache_creation_input_tokens: 30,
          cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
        },
        { cache_creation_input_tokens: 100, output_tokens: 2 },
      ],
      { promptTokens: 101, completionTokens: 2, cacheWriteTokens: 100, cacheWrite1hTokens: 20 },
    ],
  ] as const) {
    it(`is merged from a start and ${title}`, () => assert.deepEqual(merged(...values), expected));
  }

  it('tells whether an object states the output', () => {
    const tally = new UsageTally();
    assert.equal(tally.add({ input_tokens: 1 }), false);
    assert.equal(tally.add({ output_tokens: 'x' }), false);
    assert.equal(tally.add(undefined), false);
    assert.equal(tally.add({ output_tokens: 0 }), true);
  });
});
