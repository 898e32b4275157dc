import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { CatalogueFault, readCatalogue } from './read-catalogue.ts';

const PROVIDERS = `providers:
  local:
    protocol: openai
    base_url: http://127.0.0.1:11434/v1/
`;

const route = (lines: string) => `${PROVIDERS}routes:
  - id: local/llama
    provider: local
    upstream_model: llama
    price_pkr_per_million: { input: 0.000001, output: 7.5 }
    max_output_tokens: 4096
${lines}`;

describe('readCatalogue', () => {
  it('reads the catalogue that is shipped', async () => {
    const path = join(import.meta.dirname, '../../../catalogue.yaml');
    const catalogue = readCatalogue(await readFile(path, 'utf8'), 'catalogue.yaml');
    assert.ok(catalogue.routes.length >= 3);
    assert.equal(catalogue.providers['openai']?.api_key_env, 'OPENAI_API_KEY');
  });

  it('reads prices exactly and fills in what may be left out', () => {
    assert.deepEqual(readCatalogue(route('    byok_fee_percent: 2.5'), 'f.yaml').routes[0], {
      id: 'local/llama',
      provider: 'local',
      upstream_model: 'llama',
      endpoints: ['chat'],
      price_pkr_per_million: { input: 1n, output: 7_500_000n, cache_write: 0n, cache_read: 0n },
      byok_fee_percent: 25_000n,
      max_output_tokens: 4096,
      timeout_ms: 600_000,
      active: true,
    });
    assert.equal(
      readCatalogue(route(''), 'f.yaml').providers['local']?.base_url,
      'http://127.0.0.1:11434/v1',
    );
  });

  it('accepts a route to the built-in provider', () => {
    assert.equal(
      readCatalogue(route('').replace('provider: local', 'provider: demo'), 'f').routes[0]?.provider,
      'demo',
    );
  });

  const faults: [string, string, RegExp][] = [
    [
      'a value of the wrong type',
      route('    timeout_ms: soon'),
      /^f\.yaml line 11 \(routes\.0\.timeout_ms\): /,
    ],
    ['a negative price', route('').replace('output: 7.5', 'output: -1'), /^f\.yaml line 9 .*at least 0/],
    ['a price finer than a micro-PKR', route('').replace('7.5', '0.0000001'), /line 9 .*6 decimals/],
    ['a misspelt member', route('    timeout: 5'), /timeout/],
    ['a missing member', route('').replace('    upstream_model: llama\n', ''), /line 6 .*upstream_model/],
    ['an unknown provider', route('').replace('provider: local', 'provider: lokal'), /line 7 .*lokal/],
    ['a route named twice', `${route('')}${route('').split('routes:\n')[1]}`, /local\/llama is named twice/],
    ['an address that is none', route('').replace('http://', 'ftp://'), /line 4 .*http/],
    [
      'the built-in provider declared',
      route('').replace('  local:', '  demo:').replace('provider: local', 'provider: demo'),
      /built in/,
    ],
    ['broken YAML', 'providers: {', /^f\.yaml: /],
    ['an empty file', '', /must have providers and routes/],
    ['a list', '- 1', /line 1: /],
  ];
  for (const [what, text, message] of faults) {
    it(`refuses ${what}, saying where`, () => {
      assert.throws(
        () => readCatalogue(text, 'f.yaml'),
        (error) => {
          assert.ok(error instanceof CatalogueFault);
          assert.match(error.message, message);
          return true;
        },
      );
    });
  }
});
