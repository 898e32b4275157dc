import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { DEFAULT_DENY } from '@gatehouse/contract';
import { readCatalogue } from './read-catalogue.ts';

/** The YAML examples of the page, in their order. */
async function examples(): Promise<string[]> {
  const page = await readFile(join(import.meta.dirname, '../../../docs/catalogue.md'), 'utf8');
  return [...page.matchAll(/^```yaml[^\n]*\n([\s\S]*?)^```$/gm)].map(([, text]) => text ?? '');
}

describe('docs/catalogue.md', () => {
  it('shows the list of denied members that is in force by default', async () => {
    const list = (await examples()).find((text) => text.startsWith('deny:')) ?? assert.fail('no list');
    const inFile = list.replaceAll(/^/gm, '    ');
    const { providers } = readCatalogue(
      `providers:\n  a:\n    protocol: openai\n    base_url: http://a\n${inFile}\nroutes: []\n`,
      'docs/catalogue.md',
    );
    assert.deepEqual(providers['a']?.deny, DEFAULT_DENY);
  });

  it('has only examples that can be applied', async () => {
    const files = (await examples()).filter((text) => text.startsWith('providers:'));
    assert.equal(files.length, 2);
    for (const text of files) readCatalogue(text, 'docs/catalogue.md');
    assert.deepEqual(readCatalogue(files[1] ?? '', 'docs/catalogue.md').routes[0]?.allow, [
      { member: 'service_tier', values: ['priority'] },
    ]);
  });
});

describe('catalogue.yaml', () => {
  it('names the output limit as each provider reads it', async () => {
    const path = join(import.meta.dirname, '../../../catalogue.yaml');
    const { providers, routes } = readCatalogue(await readFile(path, 'utf8'), path);
    assert.ok(routes.length >= 3);
    assert.equal(providers['openai']?.api_key_env, 'OPENAI_API_KEY');
    assert.deepEqual(
      Object.fromEntries(Object.entries(providers).map(([name, provider]) => [name, provider.output_limit])),
      {
        openai: 'max_completion_tokens',
        anthropic: 'max_completion_tokens',
        google: 'max_tokens',
        mistral: 'max_tokens',
        deepseek: 'max_tokens',
        groq: 'max_completion_tokens',
        local: 'both',
      },
    );
  });
});
