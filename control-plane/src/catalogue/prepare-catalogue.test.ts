import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createTestDatabase, runSql, type TestDatabase } from '@gatehouse/store/testing';
import { applyCatalogue, prepareCatalogue, previewCatalogue } from './apply-catalogue.ts';
import type { Catalogue, CatalogueRoute } from './catalogue-file.ts';
import { listRouteOverviews, switchRoute } from './operate-routes.ts';
import { readCatalogue } from './read-catalogue.ts';
import type { CatalogueTarget } from './targets-file.ts';

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

  it('gives the demo route of an earlier version the endpoints and the context of this one, and leaves it switched off', async () => {
    await prepare(true, 'a/1');
    await runSql(
      test.database,
    )`UPDATE routes SET endpoints = '{chat}', max_input_tokens = NULL, is_active = false WHERE id = 'demo/echo'`;
    await prepare(true);
    const [route] = await runSql(
      test.database,
    )`SELECT endpoints, max_input_tokens AS context, is_active AS active FROM routes WHERE id = 'demo/echo'`;
    const endpoints = ['chat', 'completions', 'embeddings', 'responses', 'messages'];
    assert.deepEqual(
      { ...route, context: Number(route?.['context']) },
      { endpoints, context: 1e6, active: false },
    );
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
      await runSql(
        test.database,
      )`SELECT input_micro_pkr_per_million AS input FROM route_targets WHERE route_id = 'a/3'`,
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

  const PRICE = {
    ...{ input: 1_500_000n, output: 2_000_000n, tiers: [] },
    ...{ cache_write: 1_500_000n, cache_read: 1_500_000n, cache_write_1h: 1_500_000n },
  };
  const TIER = { ...PRICE, above_prompt_tokens: 272_000, input: 9_007_199_254_740_991n };
  const rule = { member: 'service_tier', values: ['flex'] };
  const TARGET: CatalogueTarget = {
    ...{ provider: 'local', upstream_model: 'm', price_pkr_per_million: PRICE, price_pkr_per_call: {} },
    ...{ byok_fee_percent: 0n, weight: 1, priority: 1 },
  };
  const only = (change: Partial<CatalogueTarget>) => ({ targets: [{ ...TARGET, ...change }] });
  const routeChanges: [members: string[], route: Partial<CatalogueRoute>][] = [
    [['upstream_model'], only({ upstream_model: 'n' })],
    [['targets'], only({ weight: 2 })],
    [['targets'], only({ priority: 2 })],
    [['targets'], { targets: [{ ...TARGET, upstream_model: 'n', price_pkr_per_call: { x: 1n } }, TARGET] }],
    [
      ['max_attempts', 'attempt_timeout_ms', 'queue_ms'],
      { max_attempts: 16, attempt_timeout_ms: 2, queue_ms: 3 },
    ],
    [['aliases'], { aliases: ['a-two', 'two'] }],
    [['endpoints'], { endpoints: ['chat', 'embeddings'] }],
    [['price_pkr_per_million.output'], only({ price_pkr_per_million: { ...PRICE, output: 2_000_001n } })],
    [
      [
        'price_pkr_per_million.cache_write',
        'price_pkr_per_million.cache_read',
        'price_pkr_per_million.cache_write_1h',
        'price_pkr_per_million.tiers',
      ],
      only({
        price_pkr_per_million: {
          ...PRICE,
          cache_write: 0n,
          cache_read: 1n,
          cache_write_1h: 2n,
          tiers: [TIER],
        },
      }),
    ],
    [['price_pkr_per_call'], only({ price_pkr_per_call: { web_search: 9_007_199_254_740_991n } })],
    [['byok_fee_percent'], only({ byok_fee_percent: 1n })],
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
    [['api_key_env'], { credentials: [{ name: 'default', api_key_env: 'A_KEY', weight: 1 }] }],
    [['credentials'], { credentials: [{ name: 'default', api_key_env: 'A_KEY', weight: 2 }] }],
    [
      ['credentials'],
      {
        credentials: [
          { name: 'b', api_key_env: 'B_KEY', weight: 1 },
          { name: 'a', api_key_env: 'A_KEY', weight: 1_000 },
        ],
      },
    ],
    [['output_limit'], { output_limit: 'max_tokens' }],
    [['auth'], { flags: { auth: { header: 'x-key' } } }],
    [
      ['headers', 'query', 'surfaces'],
      { flags: { headers: { a: 'b' }, query: { c: 'd' }, surfaces: { chat: '/c' } } },
    ],
    [
      ['stream_usage', 'drop', 'keep', 'strict_fields', 'beta_headers'],
      {
        flags: {
          ...{ streamUsage: 'never', drop: ['n'], keep: ['extra_content'], strictFields: true },
          betaHeaders: { a: null },
        },
      },
    ],
    [['proxy'], { flags: { proxy: 'none' } }],
    [['add', 'credential'], { flags: { add: { a: 1 }, credential: { kind: 'google', scopes: ['a'] } } }],
    [
      ['ca_file', 'client_cert_file', 'client_key_file'],
      { flags: { caFile: '/a', clientCertFile: '/b', clientKeyFile: '/c' } },
    ],
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

  const withAliases = (
    catalogue: Catalogue,
    aliases: Readonly<Record<string, readonly string[]>>,
  ): Catalogue => ({
    ...catalogue,
    routes: catalogue.routes.map((route) => ({ ...route, aliases: [...(aliases[route.id] ?? [])] })),
  });
  const aliasRows = () =>
    runSql(test.database)`SELECT alias || ' > ' || route_id AS name FROM route_aliases ORDER BY 1`.then(
      (rows) => rows.map(({ name }) => name),
    );

  it('moves names between routes in one step: from alias to alias, from id to alias, from alias to id', async () => {
    await apply(withAliases(file('a/1', 'a/2', 'a/3'), { 'a/1': ['x', 'y'], 'a/2': ['z'] }));
    assert.deepEqual(await aliasRows(), ['x > a/1', 'y > a/1', 'z > a/2']);
    await apply(withAliases(file('a/1', 'a/2', 'z'), { 'a/1': ['a/3'], 'a/2': ['x'] }));
    assert.deepEqual(await aliasRows(), ['a/3 > a/1', 'x > a/2']);
    assert.deepEqual(await activeIds(), ['a/1', 'a/2', 'z']);
  });

  it('frees the aliases of a route that the file no longer names', async () => {
    await apply(withAliases(file('a/1', 'a/2'), { 'a/1': ['x'] }));
    await apply(withAliases(file('a/2'), { 'a/2': ['x'] }));
    assert.deepEqual(await aliasRows(), ['x > a/2']);
  });

  it('applies concurrent files that claim one name, one after the other', async () => {
    await Promise.all([
      apply(withAliases(file('x/1'), { 'x/1': ['name', 'x'] })),
      apply(withAliases(file('y/1'), { 'y/1': ['name', 'y'] })),
      apply(file('name')),
    ]);
    const result = [...(await activeIds()), ...(await aliasRows())].join();
    assert.ok(['x/1,name > x/1,x > x/1', 'y/1,name > y/1,y > y/1', 'name'].includes(result), result);
  });

  it('applies more names than the server can lock one by one', async () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `n${10_000 + index}`);
    const many = file(...Array.from({ length: 200 }, (_, index) => `m/${index}`));
    const routes = many.routes.map((route, index) => ({
      ...route,
      aliases: names.slice(index * 50, index * 50 + 50),
    }));
    assert.equal((await apply({ ...many, routes })).routes.added.length, 200);
    assert.equal((await aliasRows()).length, 10_000);
    assert.equal((await apply({ ...many, routes })).routes.unchanged.length, 200);
  });

  it('never lets the database hold one name twice, however it is written', async () => {
    await apply(withAliases(file('a/1', 'a/2'), { 'a/1': ['x'] }));
    const sql = runSql(test.database);
    const both = { message: /is both an alias and the id of an active route/ };
    await assert.rejects(sql`INSERT INTO route_aliases VALUES ('a/2', 'a/1')`, both);
    await assert.rejects(sql`INSERT INTO route_aliases VALUES ('x', 'a/2')`, /route_aliases_pkey/);
    await assert.rejects(
      sql`INSERT INTO routes SELECT (jsonb_populate_record(r, '{"id": "x"}')).* FROM routes r WHERE id = 'a/2'`,
      both,
    );
    // A transaction that cannot see the alias waits for the one that takes it.
    await test.database.transaction(async (tx) => {
      await runSql(tx)`INSERT INTO route_aliases VALUES ('late', 'a/1')`;
      const other = test.database.transaction(async (concurrent) => {
        await runSql(concurrent)`SELECT set_config('lock_timeout', '50ms', true)`;
        await runSql(
          concurrent,
        )`INSERT INTO routes SELECT (jsonb_populate_record(r, '{"id": "late"}')).* FROM routes r WHERE id = 'a/2'`;
      });
      await assert.rejects(other, ({ cause }: Error) => /lock timeout/.test(String(cause)));
    });
  });

  it('applies concurrent files one after the other, never a mixture', async () => {
    await Promise.all([apply(file('x/1', 'x/2')), apply(file('y/1', 'y/2'))]);
    const ids = (await activeIds()).join();
    assert.ok(ids === 'x/1,x/2' || ids === 'y/1,y/2', ids);
  });
});

describe('switchRoute', () => {
  it('refuses to activate a route whose id is the alias of another by now', async () => {
    await apply(file('old'));
    const { providers, routes } = file('new');
    await apply({ providers, routes: routes.map((route) => ({ ...route, aliases: ['old'] })) });
    assert.deepEqual(await switchRoute(test.database, 'old', true), {
      hasChanged: false,
      isBuiltIn: false,
      aliasOf: 'new',
    });
    assert.deepEqual(await activeIds(), ['new']);
  });

  it('activates and deactivates one route, and reports unknown ones', async () => {
    await apply(file('a/1', 'a/2'));
    assert.deepEqual(await switchRoute(test.database, 'a/1', false), { hasChanged: true, isBuiltIn: false });
    assert.deepEqual(await switchRoute(test.database, 'a/1', false), { hasChanged: false, isBuiltIn: false });
    assert.deepEqual(await activeIds(), ['a/2']);
    assert.deepEqual(await switchRoute(test.database, 'a/1', true), { hasChanged: true, isBuiltIn: false });
    assert.equal(await switchRoute(test.database, 'a/0', true), undefined);
    const overview = (await listRouteOverviews(test.database)).find(({ id }) => id === 'a/1');
    const target = overview?.targets[0];
    assert.deepEqual(
      [target?.provider.protocol, target?.provider.baseUrl, target?.input, overview?.isActive],
      ['openai', 'http://127.0.0.1:1/v1', 1_500_000, true],
    );
  });
});
