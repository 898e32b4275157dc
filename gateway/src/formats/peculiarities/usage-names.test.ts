import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasReasoningTokens, readUsage, statedUsage } from './usage-names.ts';

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
    [
      'a total below its parts',
      '{"prompt_tokens":9,"completion_tokens":4,"total_tokens":1}',
      { ...counts, isContradictory: true },
    ],
    [
      'a total beyond its parts',
      '{"prompt_tokens":9,"completion_tokens":4,"total_tokens":100,"completion_tokens_details":{"reasoning_tokens":1}}',
      { promptTokens: 9, completionTokens: 91, reasoningTokens: 1, isContradictory: true },
    ],
    ['a total that is none', '{"prompt_tokens":9,"completion_tokens":4,"total_tokens":-1}', counts],
    [
      'reasoning within the completion',
      '{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13,"completion_tokens_details":{"reasoning_tokens":3}}',
      { ...counts, reasoningTokens: 3 },
    ],
    [
      'reasoning beside the completion',
      '{"prompt_tokens":32,"completion_tokens":9,"total_tokens":135,"completion_tokens_details":{"reasoning_tokens":94}}',
      { promptTokens: 32, completionTokens: 103, reasoningTokens: 94 },
    ],
    [
      'what went into a cache, and calls',
      '{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":2,"cache_write_tokens":5},"server_tool_use":{"web_search_requests":2}}',
      { ...counts, cacheReadTokens: 2, cacheWriteTokens: 5, calls: { web_search: 2 } },
    ],
    [
      'what the cache served',
      '{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":9}}',
      { ...counts, cacheReadTokens: 9 },
    ],
    [
      "what Mistral's cache served",
      '{"prompt_tokens":9,"completion_tokens":4,"num_cached_tokens":9}',
      { ...counts, cacheReadTokens: 9 },
    ],
    [
      'more served by the cache than was asked',
      '{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":10}}',
      { promptTokens: 10, completionTokens: 4, isContradictory: true },
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

describe('readUsage of an embedding', () => {
  it('has no completion', () => {
    const usage = { prompt_tokens: 8, total_tokens: 8 };
    assert.deepEqual(readUsage(usage, false), { promptTokens: 8, completionTokens: 0 });
    assert.equal(readUsage(usage), undefined);
  });
});

describe('readUsage', () => {
  it('reads the figures of the Responses API', () => {
    const usage = {
      input_tokens: 2_459,
      input_tokens_details: { cached_tokens: 2_455 },
      output_tokens: 23,
      output_tokens_details: { reasoning_tokens: 12 },
      total_tokens: 2_482,
    };
    assert.deepEqual(readUsage(usage), {
      promptTokens: 2_459,
      completionTokens: 23,
      cacheReadTokens: 2_455,
      reasoningTokens: 12,
    });
    assert.equal(readUsage({ ...usage, output_tokens: '23' }), undefined);
    assert.equal(readUsage(null), undefined);
  });
});

describe('the usage of a provider with names of its own', () => {
  const stated = { prompt_tokens: 640, completion_tokens: 4, total_tokens: 644 };
  const priced = { promptTokens: 640, completionTokens: 4 };
  for (const [title, usage, expected] of [
    [
      'DeepSeek',
      { ...stated, prompt_cache_hit_tokens: 512, prompt_cache_miss_tokens: 128 },
      { ...priced, cacheReadTokens: 512 },
    ],
    ['Moonshot', { ...stated, cached_tokens: 512 }, { ...priced, cacheReadTokens: 512 }],
    [
      'LiteLLM',
      { ...stated, cache_read_input_tokens: 512, cache_creation_input_tokens: 100 },
      { ...priced, cacheReadTokens: 512, cacheWriteTokens: 100 },
    ],
    [
      'DashScope',
      { ...stated, prompt_tokens_details: { cached_tokens: 100, cache_creation_input_tokens: 500 } },
      { ...priced, cacheReadTokens: 100, cacheWriteTokens: 500 },
    ],
    [
      'DashScope, by time',
      { ...stated, prompt_tokens_details: { cache_creation: { ephemeral_5m_input_tokens: 500 } } },
      { ...priced, cacheWriteTokens: 500, cacheWrite1hTokens: 0 },
    ],
    [
      "both names, where OpenAI's counts",
      { ...stated, cached_tokens: 7, prompt_tokens_details: { cached_tokens: 512 } },
      { ...priced, cacheReadTokens: 512 },
    ],
    [
      'a name that is null',
      { ...stated, cached_tokens: 512, prompt_tokens_details: { cached_tokens: null } },
      { ...priced, cacheReadTokens: 512 },
    ],
    [
      'the cache alone',
      { completion_tokens: 4, prompt_cache_hit_tokens: 512, prompt_cache_miss_tokens: 128 },
      { ...priced, cacheReadTokens: 512 },
    ],
    ['reasoning', { ...stated, reasoning_tokens: 3 }, { ...priced, reasoningTokens: 3 }],
  ] as const) {
    it(`is read: ${title}`, () => assert.deepEqual(readUsage(usage), expected));
  }

  it('is the total of embeddings, where nothing else is stated', () => {
    assert.deepEqual(readUsage({ total_tokens: 7 }, false), { promptTokens: 7, completionTokens: 0 });
    assert.equal(readUsage({ total_tokens: 7 }), undefined);
  });

  it('is found where it stands', () => {
    assert.equal(statedUsage({ usage: stated, x_groq: { usage: {} } }), stated);
    assert.equal(statedUsage({ usage: null, x_groq: { id: 'r', usage: stated } }), stated);
    assert.equal(statedUsage({ choices: [{ index: 0, usage: stated }] }), stated);
    assert.equal(statedUsage({ usage: {}, x_groq: { usage: stated } }), stated);
    assert.deepEqual(statedUsage({ usage: {}, x_groq: { usage: { total_tokens: null } } }), {});
    assert.equal(statedUsage({ choices: [null, {}], x_groq: { id: 'r' } }), undefined);
  });
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
