import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { DEFAULT_DENY } from '@gatehouse/contract';
import type { CatalogueRoute } from './catalogue-file.ts';
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
    assert.equal(files.length, 4);
    for (const text of files) readCatalogue(text, 'docs/catalogue.md');
    const exampleWith = (member: string) =>
      readCatalogue(files.find((text) => text.includes(member)) ?? '', 'docs/catalogue.md');
    assert.deepEqual(exampleWith('    allow:').routes[0]?.allow, [
      { member: 'service_tier', values: ['priority'] },
    ]);
    const { providers, routes } = exampleWith('    targets:');
    assert.deepEqual(
      providers['anthropic']?.credentials.map(({ name, weight }) => [name, weight]),
      [
        ['first', 3],
        ['second', 1],
      ],
    );
    assert.deepEqual(
      routes[0]?.targets.map(({ provider, priority, price_pkr_per_million: { input } }) => [
        provider,
        priority,
        input,
      ]),
      [
        ['anthropic', 1, 1_425_000_000n],
        ['bedrock', 2, 1_567_500_000n],
      ],
    );
  });
});

describe('the members of a route in docs/catalogue.md', () => {
  it('are valid in a file', async () => {
    const members = (await examples()).filter((text) => text.startsWith('    '));
    const [
      {
        aliases,
        targets: [target],
      } = assert.fail('no route'),
    ] = readCatalogue(
      `providers: {}\nroutes:\n  - id: a/b\n    provider: demo\n    upstream_model: m\n    max_output_tokens: 1\n${members.join('')}`,
      'docs/catalogue.md',
    ).routes;
    const { price_pkr_per_million: price, price_pkr_per_call: calls } = target ?? assert.fail('no target');
    assert.deepEqual(
      [aliases, price.tiers[0]?.input, price.tiers[0]?.cache_write_1h, calls],
      [['claude-opus-5-5', 'opus'], 1_140_000_000n, 1_140_000_000n, { web_search: 2_850_000n }],
    );
  });
});

describe('catalogue.yaml', async () => {
  const path = join(import.meta.dirname, '../../../catalogue.yaml');
  const text = await readFile(path, 'utf8');
  const { providers, routes } = readCatalogue(text, path);
  const providerOf = ({ targets: [target] }: CatalogueRoute) => target?.provider;

  it('names of each provider the page that its entry was written from, and that it was not tried', () => {
    const [, section = ''] = /^providers:\n([\s\S]*?)^routes:/m.exec(text) ?? [];
    const entries = [...section.matchAll(/((?: {2}#[^\n]*\n)+) {2}([a-z-]+):\n/g)];
    assert.deepEqual(
      entries.map(([, , name]) => name),
      Object.keys(providers),
    );
    for (const [, comment = '', name] of entries) {
      const words = comment.replaceAll(/\s*\n\s*#\s*/g, ' ');
      assert.match(words, /https:\/\/\S+\.\S+/, name);
      assert.match(words, /not tried against (the real provider|every server)/i, name);
    }
  });

  it('has a route to every provider, and each route states its cache prices', () => {
    assert.deepEqual(new Set(routes.map(providerOf)), new Set(Object.keys(providers)));
    const stated = text.match(/price_pkr_per_million:/g)?.length;
    assert.equal(stated, routes.length);
    assert.equal(
      text.match(/input: [^{}]*cache_write: [\d.]+, cache_read: [\d.]+/g)?.length,
      routes.length + 3,
    );
  });

  it('activates only providers whose flags and prices were confirmed by their pages', () => {
    const active = new Set(routes.filter((route) => route.active).map(providerOf));
    assert.deepEqual([...active], ['openai', 'anthropic', 'google', 'mistral', 'deepseek', 'groq']);
    for (const route of routes) assert.equal(route.active, active.has(providerOf(route)), route.id);
  });

  it('has the differences between providers that are known', () => {
    const flags = (name: string) => providers[name]?.flags ?? assert.fail(name);
    assert.equal(providers['anthropic']?.protocol, 'anthropic');
    assert.deepEqual(
      [flags('mistral').streamUsage, flags('mistral').strictFields, providers['mistral']?.output_limit],
      ['never', true, 'max_tokens'],
    );
    assert.deepEqual(flags('deepseek').keep, ['reasoning_content']);
    assert.deepEqual(flags('google').keep, ['extra_content']);
    assert.equal(flags('bedrock-claude').betaHeaders, 'strip');
    assert.ok(flags('openai').surfaces?.responses);
    for (const [name, { output_limit: limit }] of Object.entries(providers)) {
      const readsNew = ['openai', 'anthropic', 'groq', 'xai', 'bedrock', 'bedrock-claude'].includes(name);
      assert.equal(
        limit,
        readsNew ? 'max_completion_tokens' : name === 'local' ? 'both' : 'max_tokens',
        name,
      );
    }
  });

  it('gives Claude Code and the OpenAI SDKs the bare names that they send', () => {
    const aliases = new Map(routes.flatMap(({ id, aliases }) => aliases.map((alias) => [alias, id])));
    assert.equal(aliases.get('claude-opus-5-5'), 'anthropic/claude-opus-5-5');
    assert.equal(aliases.get('claude-haiku-4-5-20251001'), 'anthropic/claude-haiku-4-5');
    assert.equal(aliases.get('gpt-5'), 'openai/gpt-5');
    assert.equal(aliases.get('gpt-5-mini'), 'openai/gpt-5-mini');
    const embeddings = routes.filter(({ endpoints }) => endpoints.includes('embeddings'));
    assert.ok(embeddings.some(({ active }) => active));
  });

  it('prices the whole of a long prompt higher at OpenAI', () => {
    const price = routes.find(({ id }) => id === 'openai/gpt-6-sol')?.targets[0]?.price_pkr_per_million;
    assert.deepEqual(
      price?.tiers.map(({ above_prompt_tokens: above, input, output }) => [above, input, output]),
      [[272_000, 1_140_000_000n, 4_275_000_000n]],
    );
  });

  it('has a template for Azure that is valid once its comment marks are removed', () => {
    const [template = ''] = /^ {2}# azure:\n(?: {2}# .*\n)+/m.exec(text) ?? [];
    const azure = readCatalogue(`providers:\n${template.replaceAll(/^ {2}# /gm, '  ')}routes: []\n`, 'azure')
      .providers['azure'];
    assert.equal(azure?.flags.auth, 'api-key');
  });
});
