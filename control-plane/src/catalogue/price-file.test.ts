import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readCatalogue } from './read-catalogue.ts';

const file = (price: string, more = '') => `providers: {}
routes:
  - id: demo/m
    provider: demo
    upstream_model: m
    max_output_tokens: 10
    price_pkr_per_million: { ${price} }
${more}`;

const read = (price: string, more = '') => {
  const target = readCatalogue(file(price, more), 'f.yaml').routes[0]?.targets[0] ?? assert.fail('no target');
  return { ...target.price_pkr_per_million, calls: target.price_pkr_per_call };
};

describe('the prices of a route', () => {
  it('charges cached tokens as input unless the file states a price, and 0 is a price', () => {
    const { tiers: _, calls: _calls, ...unstated } = read('input: 3, output: 15');
    assert.deepEqual(unstated, {
      input: 3_000_000n,
      output: 15_000_000n,
      cache_write: 3_000_000n,
      cache_read: 3_000_000n,
      cache_write_1h: 3_000_000n,
    });
    const stated = read('input: 3, output: 15, cache_write: 3.75, cache_read: 0');
    assert.deepEqual(
      [stated.cache_write, stated.cache_write_1h, stated.cache_read],
      [3_750_000n, 3_750_000n, 0n],
    );
    assert.equal(
      read('input: 3, output: 15, cache_write: 3.75, cache_write_1h: 6').cache_write_1h,
      6_000_000n,
    );
    assert.equal(read('input: 3, output: 15, cache_write: 3.75, cache_write_1h: 0').cache_write_1h, 0n);
  });

  it('reads tiers exactly; what one does not state costs what it costs below it', () => {
    const { tiers } = read(
      'input: 3, output: 15, cache_read: 0.3, tiers: [{ above_prompt_tokens: 200000, input: 6.000001 }, { above_prompt_tokens: 272000, output: 22.5, cache_write: 7, cache_read: 0, cache_write_1h: 9 }]',
    );
    assert.deepEqual(tiers, [
      {
        above_prompt_tokens: 200_000,
        input: 6_000_001n,
        output: 15_000_000n,
        cache_write: 3_000_000n,
        cache_read: 300_000n,
        cache_write_1h: 3_000_000n,
      },
      {
        above_prompt_tokens: 272_000,
        input: 3_000_000n,
        output: 22_500_000n,
        cache_write: 7_000_000n,
        cache_read: 0n,
        cache_write_1h: 9_000_000n,
      },
    ]);
  });

  it('reads prices of calls exactly', () => {
    assert.deepEqual(read('input: 1, output: 1').calls, {});
    assert.deepEqual(
      read('input: 1, output: 1', '    price_pkr_per_call: { web_search: 2.850001, code_1: 0 }\n').calls,
      { web_search: 2_850_001n, code_1: 0n },
    );
  });

  const rejected: [price: string, issue: RegExp, more?: string][] = [
    [
      'input: 1, output: 1, cache_write_1h: -1',
      /cache_write_1h\): is -1 and must be a decimal number of at least 0/,
    ],
    [
      'input: 1, output: 1, tiers: [{ input: 1 }]',
      /tiers\.0\.above_prompt_tokens\): is missing; must be a number/,
    ],
    ['input: 1, output: 1, tiers: [{ above_prompt_tokens: 0 }]', /above_prompt_tokens\): must be at least 1/],
    ['input: 1, output: 1, tiers: [{ above_prompt_tokens: 1.5 }]', /must be a whole number/],
    [
      'input: 1, output: 1, tiers: [{ above_prompt_tokens: 5 }, { above_prompt_tokens: 5 }]',
      /line 7 column 110 \(routes\.0\.price_pkr_per_million\.tiers\.1\.above_prompt_tokens\): is 5 and must be more than that of the tier before, which is 5/,
    ],
    [
      'input: 1, output: 1, tiers: [{ above_prompt_tokens: 5, inputs: 1 }]',
      /is not a known member; accepted are above_prompt_tokens, input,/,
    ],
    [
      'input: 1, output: 1, tiers: [{ above_prompt_tokens: 5, input: 0.0000001 }]',
      /tiers\.0\.input\): is 0\.0000001 and must be .* 6 decimals/,
    ],
    [
      `input: 1, output: 1, tiers: [${Array.from({ length: 9 }, (_, index) => `{ above_prompt_tokens: ${index + 1} }`).join()}]`,
      /tiers\): must have at most 8/,
    ],
    [
      'input: 1, output: 1',
      /price_pkr_per_call\.Web Search\): must be a name of lower-case/,
      '    price_pkr_per_call: { Web Search: 1 }\n',
    ],
    [
      'input: 1, output: 1',
      /web_search\): is 1e-7 and must be/,
      '    price_pkr_per_call: { web_search: 1e-7 }\n',
    ],
    [
      'input: 1, output: 1',
      /price_pkr_per_call\): must have at most 16 entries/,
      `    price_pkr_per_call: { ${Array.from({ length: 17 }, (_, index) => `c${index}: 1`).join(', ')} }\n`,
    ],
  ];
  for (const [price, issue, more] of rejected) {
    it(`rejects ${(more ?? price).trim().slice(0, 80)}`, () => {
      assert.throws(() => readCatalogue(file(price, more), 'f.yaml'), {
        name: 'CatalogueError',
        message: issue,
      });
    });
  }
});
