import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { statement } from '@gatehouse/store';
import { createTestDatabase, type TestDatabase } from '@gatehouse/store/testing';
import { applyCatalogue, prepareCatalogue } from './apply-catalogue.ts';
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

const active = statement<{ id: string }>(
  'test-active-routes',
  'SELECT id FROM routes WHERE is_active ORDER BY id',
);

describe('prepareCatalogue and applyCatalogue', () => {
  let test: TestDatabase;
  before(async () => {
    test = await createTestDatabase();
  });
  after(() => test[Symbol.asyncDispose]());

  const activeIds = async () => (await test.database.many(active)).map((row) => row.id);
  const prepare = (hasDemo: boolean, ...ids: string[]) =>
    prepareCatalogue(test.database, { hasDemo, load: async () => file(...ids) });

  it('loads the file into an empty catalogue once, however many nodes start, and adds the demonstration', async () => {
    const loaded = await Promise.all([prepare(true, 'a/1', 'a/2'), prepare(true, 'a/1', 'a/2')]);
    assert.deepEqual(loaded.sort(), [0, 2]);
    assert.deepEqual(await activeIds(), ['a/1', 'a/2', 'demo/echo']);
  });

  it('leaves a catalogue alone that has routes', async () => {
    assert.equal(await prepare(true, 'b/1'), 0);
    assert.deepEqual(await activeIds(), ['a/1', 'a/2', 'demo/echo']);
  });

  it('takes routes out of service that a newly applied file does not name, the built-in one aside', async () => {
    await applyCatalogue(test.database, file('a/2', 'a/3'));
    assert.deepEqual(await activeIds(), ['a/2', 'a/3', 'demo/echo']);
    const prices = statement<{ input: bigint }>(
      'test-route-prices',
      `SELECT input_micro_pkr_per_million AS input FROM routes WHERE id = 'a/3'`,
    );
    assert.deepEqual(await test.database.one(prices), { input: 1_500_000n });
  });

  it('takes the demonstration out of service where it is not wanted, unless a file names it', async () => {
    await prepare(false);
    assert.deepEqual(await activeIds(), ['a/2', 'a/3']);
    await applyCatalogue(test.database, file('a/2', 'demo/echo'));
    await prepare(false);
    assert.deepEqual(await activeIds(), ['a/2', 'demo/echo']);
  });

  it('says what a file has changed, member by member, and leaves the rest as it is', async () => {
    const changed = await applyCatalogue(test.database, file('a/2', 'a/4'));
    assert.deepEqual(changed.routes, {
      added: ['a/4'],
      changed: [],
      unchanged: ['a/2'],
      deactivated: ['demo/echo'],
    });
    assert.deepEqual(changed.providers, { added: [], changed: [], unchanged: ['local'] });
    const touched = statement<{ at: string }>(
      'test-route-touched',
      `SELECT updated_at AS at FROM routes WHERE id = 'a/2'`,
    );
    const before = await test.database.one(touched);
    const dearer = file('a/2', 'a/4');
    const [first] = dearer.routes;
    assert.ok(first && dearer.providers['local']);
    const { routes, providers } = await applyCatalogue(test.database, {
      providers: { local: { ...dearer.providers['local'], api_key_env: 'A_KEY' } },
      routes: [
        first,
        {
          ...first,
          id: 'a/4',
          price_pkr_per_million: { ...first.price_pkr_per_million, output: 2_000_001n },
          active: false,
        },
      ],
    });
    assert.deepEqual(routes, {
      added: [],
      changed: [{ name: 'a/4', members: ['price_pkr_per_million.output', 'active'] }],
      unchanged: ['a/2'],
      deactivated: [],
    });
    assert.deepEqual(providers.changed, [{ name: 'local', members: ['api_key_env'] }]);
    assert.deepEqual(await test.database.one(touched), before);
  });

  it('keeps what a file says of the output cap, the context and the denied members, and that it says nothing', async () => {
    const limits = statement<Record<string, unknown>>(
      'test-route-limits',
      `SELECT p.output_limit AS name, r.default_output_tokens AS "default", r.min_output_tokens AS least,
              r.max_input_tokens AS context, p.deny, p.allow AS "providerAllow", r.allow
       FROM routes r JOIN providers p ON p.name = r.provider WHERE r.id = 'a/2'`,
    );
    const plain = file('a/2');
    const [route] = plain.routes;
    assert.ok(route && plain.providers['local']);
    const rule = { member: 'service_tier', values: ['flex'] };
    const deny = [rule, { member: 'models', values: null }];
    const limited = {
      providers: {
        local: { ...plain.providers['local'], output_limit: 'max_tokens' as const, deny, allow: [rule] },
      },
      routes: [
        { ...route, default_output_tokens: 8, min_output_tokens: 4, max_input_tokens: 99, allow: [rule] },
      ],
    };
    await applyCatalogue(test.database, plain);
    const { providers, routes } = await applyCatalogue(test.database, limited);
    assert.ok(providers.changed.some(({ members }) => members.join() === 'output_limit,deny,allow'));
    assert.deepEqual(
      routes.changed.map(({ members }) => members),
      [['default_output_tokens', 'min_output_tokens', 'max_input_tokens', 'allow']],
    );
    const stated = {
      name: 'max_tokens',
      default: 8n,
      least: 4n,
      context: 99n,
      deny,
      providerAllow: [rule],
      allow: [rule],
    };
    assert.deepEqual(await test.database.one(limits), stated);
    assert.deepEqual((await applyCatalogue(test.database, limited)).routes.unchanged, ['a/2']);
    await applyCatalogue(test.database, plain);
    const unstated = {
      name: 'max_completion_tokens',
      default: null,
      least: null,
      context: null,
      deny: null,
      providerAllow: [],
      allow: [],
    };
    assert.deepEqual(await test.database.one(limits), unstated);
  });

  it('applies two files at once one after the other, never a mixture', async () => {
    await Promise.all([
      applyCatalogue(test.database, file('x/1', 'x/2')),
      applyCatalogue(test.database, file('y/1', 'y/2')),
    ]);
    const ids = (await activeIds()).join();
    assert.ok(ids === 'x/1,x/2' || ids === 'y/1,y/2', ids);
  });

  it('puts one route in and out of service, and knows which there are', async () => {
    await applyCatalogue(test.database, file('a/1', 'a/2'));
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
