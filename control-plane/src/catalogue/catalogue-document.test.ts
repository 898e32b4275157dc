import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readCatalogue } from './read-catalogue.ts';

describe('a catalogue file of any size and shape', () => {
  it('accepts one price shared by 200 routes', () => {
    const routes = Array.from(
      { length: 200 },
      (_, index) =>
        `  - { id: r/${index}, provider: demo, upstream_model: m, max_output_tokens: 1, price_pkr_per_million: ${index === 0 ? '&price { input: 0.1, output: 7.5 }' : '*price'} }`,
    );
    const catalogue = readCatalogue(`providers: {}\nroutes:\n${routes.join('\n')}`, 'f.yaml');
    assert.equal(catalogue.routes[199]?.targets[0]?.price_pkr_per_million.input, 100_000n);
  });

  const excessive: [string, string, RegExp][] = [
    [
      'a file that is too large',
      `#${' '.repeat(1024 * 1024)}`,
      /^f\.yaml line 1 column 1: is too large; at most 1048576/,
    ],
    ['100,000 open brackets', `a: 1\n${'['.repeat(100_000)}`, /^f\.yaml line 2 column 101: is nested deeper/],
    ['lists in lists', '- '.repeat(100_000), /nested deeper than 100 levels$/],
    [
      'aliases that expand exponentially',
      `a: &a [1,1]\n${'bcdefghijklmnopqrstu'.replaceAll(/./g, (name) => `${name}: &${name} [*${String.fromCharCode(name.charCodeAt(0) - 1)},*${String.fromCharCode(name.charCodeAt(0) - 1)}]\n`)}`,
      /more than 10000 aliases after expansion$/,
    ],
    [
      '50,000 unknown names',
      Array.from({ length: 50_000 }, (_, index) => `k${index}: 1`).join('\n'),
      /\(and 999 more\)$/,
    ],
    ['50,000 invalid routes', `providers: {}\nroutes: [${'1,'.repeat(50_000)}]`, /\(and 999 more\)$/],
  ];
  for (const [what, text, message] of excessive) {
    it(`rejects ${what} without exhausting the process`, () => {
      assert.throws(() => readCatalogue(text, 'f.yaml'), { name: 'CatalogueError', message });
    });
  }
});
