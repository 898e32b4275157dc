import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createTestDatabase, runSql, type TestDatabase } from '@gatehouse/store/testing';
import { applyCatalogue, prepareCatalogue, previewCatalogue } from './apply-catalogue.ts';
import type { Catalogue, CatalogueRoute } from './catalogue-file.ts';
import { listRouteOverviews, switchRoute } from './operate-routes.ts';
import { readCatalogue } from './read-catalogue.ts';

const file = (...ids: string[]) =>
  readCatalogue(
    `providers: { local: { protocol: openai, base_url: "http://127.0.0.1:1/v1" } }
routes:
${ids.map((id) => `  - { id: ${id}, provider: ${id.startsWith('demo') ? 'demo' : 'local'}, upstream_model: m, price_pkr_per_million: { input: 1.5, output: 2 }, max_output_tokens: 10 }`).join('\n')}
`,
    'test.yaml',
  );

// Every test has a database of its own, with an empty catalogue.
let test: TestDatabase;
beforeEach(async () => {
  test = await createTestDatabase();
});
afterEach(() => test?.[Symbol.asyncDispose]());

const activeIds = async () =>
  (await runSql<{ id: string }>(test.database)`SELECT id FROM routes WHERE is_active ORDER BY id`).map(
    ({ id }) => id,
  );
const prepare = (hasDemo: boolean, ...ids: string[]) =>
  prepareCatalogue(test.database, { hasDemo, load: async () => file(...ids) });
const apply = (catalogue: Catalogue) => applyCatalogue(test.database, catalogue);

describe('prepareCatalogue', () => {
  it('loads the file into an empty catalogue once, on concurrent starts, and adds the demo route', async () => {
    const loaded = await Promise.all([prepare(true, 'a/1', 'a/2'), prepare(true, 'a/1', 'a/2')]);
    assert.deepEqual(loaded.sort(), [0, 2]);
    assert.deepEqual(await activeIds(), ['a/1', 'a/2', 'demo/echo']);
  });

  it('does not change a catalogue that has routes', async () => {
    await prepare(true, 'a/1');
    assert.equal(await prepare(true, 'b/1'), 0);
    assert.deepEqual(await activeIds(), ['a/1', 'demo/echo']);
  });

  it('deactivates the demo route when it is not wanted', async () => {
    await prepare(true, 'a/1');
    await prepare(false);
    assert.deepEqual(await activeIds(), ['a/1']);
  });

  it('keeps the demo route active when a file names it, wanted or not', async () => {
    await prepare(true, 'a/1');
    await apply(file('a/1', 'demo/echo'));
    await prepare(false);
    assert.deepEqual(await activeIds(), ['a/1', 'demo/echo']);
  });
});

describe('applyCatalogue', () => {
  it('deactivates the routes that the file does not name, except the built-in one', async () => {
    await prepare(true, 'a/1', 'a/2');
    await apply(file('a/2', 'a/3'));
    assert.deepEqual(await activeIds(), ['a/2', 'a/3', 'demo/echo']);
    assert.deepEqual(
      await runSql(test.database)`SELECT input_micro_pkr_per_million AS input FROM routes WHERE id = 'a/3'`,
      [{ input: 1_500_000n }],
    );
  });

  it('reports added, deactivated and unchanged routes, as its preview does without a change', async () => {
    await prepare(false, 'a/1', 'a/2');
    const expected = {
      providers: { added: [], changed: [], unchanged: ['local'] },
      routes: { added: ['a/3'], changed: [], unchanged: ['a/2'], deactivated: ['a/1'] },
    };
    assert.deepEqual(await previewCatalogue(test.database, file('a/2', 'a/3')), expected);
    assert.deepEqual(await activeIds(), ['a/1', 'a/2']);
    assert.deepEqual(await apply(file('a/2', 'a/3')), expected);
    assert.deepEqual(await activeIds(), ['a/2', 'a/3']);
  });

  const rule = { member: 'service_tier', values: ['flex'] };
  const routeChanges: [members: string[], route: Partial<CatalogueRoute>][] = [
    [['upstream_model'], { upstream_model: 'n' }],
    [['endpoints'], { endpoints: ['chat', 'embeddings'] }],
    [
      ['price_pkr_per_million.output'],
      {
        price_pkr_per_million: {
          input: 1_500_000n,
          output: 2_000_001n,
          cache_write: 1_500_000n,
          cache_read: 1_500_000n,
          cache_write_1h: 1_500_000n,
          tiers: [],
        },
      },
    ],
    [['byok_fee_percent'], { byok_fee_percent: 1n }],
    [['max_output_tokens'], { max_output_tokens: 11 }],
    [
      ['default_output_tokens', 'min_output_tokens', 'max_input_tokens'],
      { default_output_tokens: 8, min_output_tokens: 4, max_input_tokens: 99 },
    ],
    [['allow'], { allow: [rule] }],
    [['timeout_ms'], { timeout_ms: 5 }],
    [['active'], { active: false }],
  ];
  for (const [members, change] of routeChanges) {
    it(`names ${members.join(', ')} of a route as changed, and writes no other route`, async () => {
      const before = file('a/1', 'a/2');
      await apply(before);
      const row = () => runSql(test.database)`SELECT id, updated_at FROM routes WHERE id = 'a/1'`;
      const untouched = await row();
      const [first, second] = before.routes;
      assert.ok(first && second);
      const after = { ...before, routes: [first, { ...second, ...change }] };
      const { routes } = await apply(after);
      assert.deepEqual(routes.changed, [{ name: 'a/2', members }]);
      assert.deepEqual(routes.unchanged, ['a/1']);
      assert.deepEqual(await row(), untouched);
      assert.deepEqual((await apply(after)).routes.unchanged, ['a/1', 'a/2']);
      assert.deepEqual((await apply(before)).routes.changed, [{ name: 'a/2', members }]);
    });
  }

  const providerChanges: [members: string[], provider: Partial<Catalogue['providers'][string]>][] = [
    [['base_url'], { base_url: 'http://127.0.0.1:2/v1' }],
    [['api_key_env'], { api_key_env: 'A_KEY' }],
    [['output_limit'], { output_limit: 'max_tokens' }],
    [['deny'], { deny: [rule, { member: 'models', values: null }] }],
    [['deny'], { deny: [] }],
    [['allow'], { allow: [rule] }],
  ];
  for (const [members, change] of providerChanges) {
    it(`names ${members.join(', ')} of a provider as changed, for ${JSON.stringify(change)}`, async () => {
      const before = file('a/1');
      await apply(before);
      const { local } = before.providers;
      assert.ok(local);
      const after = { ...before, providers: { local: { ...local, ...change } } };
      assert.deepEqual((await apply(after)).providers.changed, [{ name: 'local', members }]);
      assert.deepEqual((await apply(after)).providers.unchanged, ['local']);
      assert.deepEqual((await apply(before)).providers.changed, [{ name: 'local', members }]);
    });
  }

  it('applies concurrent files one after the other, never a mixture', async () => {
    await Promise.all([apply(file('x/1', 'x/2')), apply(file('y/1', 'y/2'))]);
    const ids = (await activeIds()).join();
    assert.ok(ids === 'x/1,x/2' || ids === 'y/1,y/2', ids);
  });
});

describe('switchRoute', () => {
  it('activates and deactivates one route, and reports unknown ones', async () => {
    await apply(file('a/1', 'a/2'));
    assert.deepEqual(await switchRoute(test.database, 'a/1', false), { hasChanged: true, isBuiltIn: false });
    assert.deepEqual(await switchRoute(test.database, 'a/1', false), { hasChanged: false, isBuiltIn: false });
    assert.deepEqual(await activeIds(), ['a/2']);
    assert.deepEqual(await switchRoute(test.database, 'a/1', true), { hasChanged: true, isBuiltIn: false });
    assert.equal(await switchRoute(test.database, 'a/0', true), undefined);
    const overview = (await listRouteOverviews(test.database)).find(({ id }) => id === 'a/1');
    assert.deepEqual(
      [overview?.protocol, overview?.baseUrl, overview?.inputMicroPkrPerMillion, overview?.isActive],
      ['openai', 'http://127.0.0.1:1/v1', 1_500_000n, true],
    );
  });
});
