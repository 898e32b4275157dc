import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { comparePrices } from './prices.ts';

const CATALOGUE = `
providers:
  openai: { protocol: openai, base_url: "https://api.openai.com/v1", api_key_env: A }
  mine: { protocol: openai, base_url: "http://127.0.0.1:1/v1" }
routes:
  - { id: a, provider: openai, upstream_model: gpt-4o, max_output_tokens: 9, price_pkr_per_million: { input: 700, output: 1, cache_read: 350 } }
  - { id: b, provider: mine, upstream_model: gpt-4o-of-mine, max_output_tokens: 9, price_pkr_per_million: { input: 1, output: 1 } }
`;

describe('the prices of a catalogue beside public ones', () => {
  const compared = async (text: string, rate: string | undefined, isJson: boolean) => {
    const directory = await mkdtemp(join(tmpdir(), 'gatehouse-prices-'));
    const path = join(directory, 'catalogue.yaml');
    await writeFile(path, text);
    let out = '';
    const context = {
      environment: () => ({}),
      input: () => Readable.from([]),
      out: (some: string) => {
        out += some;
      },
      err: () => {},
      ...{ isTerminal: false, isJson },
    };
    await comparePrices(path, rate, context).finally(() => rm(directory, { recursive: true }));
    return out;
  };

  it('are a difference with its source and date; what is not known is named', async () => {
    const text = await compared(CATALOGUE, '280', false);
    assert.match(text, /^a +input 700 +output 1 -> 2800 +cache_write 700 +cache_read 350 +https:\/\/\S+\n/);
    assert.match(text, /\nnot found: b \(gpt-4o-of-mine of mine\)\n/);
    assert.match(
      text,
      /\nPublic prices of \d{4}-\d\d-\d\d, by @pydantic\/genai-prices [\d.]+\. Nothing was changed\.\n$/,
    );
  });

  it('are in dollars without a rate', async () => {
    const { proposals, not_found, usd_pkr } = JSON.parse(await compared(CATALOGUE, undefined, true));
    assert.deepEqual(proposals[0].dollars, { input: 2.5, output: 10, cache_write: 2.5, cache_read: 1.25 });
    assert.deepEqual([not_found, usd_pkr], [['b (gpt-4o-of-mine of mine)'], null]);
    assert.match(await compared(CATALOGUE, undefined, false), /^a +input 700 PKR, public \$2\.5 /);
  });

  it('are asked of a catalogue only', async () => {
    await assert.rejects(compared('routes: 5', undefined, false), /line 1 column/);
    await assert.rejects(compared(CATALOGUE, '-1', false), /--usd-pkr is "-1"/);
  });
});
