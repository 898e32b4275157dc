import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CatalogueError, readCatalogue } from './read-catalogue.ts';

const PRICE = '    price_pkr_per_million: { input: 1, output: 2 }\n';

const file = (route: string, price = PRICE) => `providers:
  one:
    protocol: openai
    base_url: http://127.0.0.1:1/v1
    surfaces: [chat, embeddings]
  two:
    protocol: anthropic
    base_url: http://127.0.0.1:2/v1
  vectors:
    protocol: openai
    base_url: http://127.0.0.1:3/v1
    surfaces: [embeddings]
routes:
  - id: a/b
    max_output_tokens: 10
${price}${route}`;

const list = (...targets: string[]) =>
  `    targets: [${targets.map((target) => `{ ${target} }`).join(', ')}]\n`;
const ONE = 'provider: one, upstream_model: m';
const TWO = 'provider: two, upstream_model: n';

const read = (route: string, price?: string) =>
  readCatalogue(file(route, price), 'f.yaml').routes[0] ?? assert.fail('no route');

describe('the targets of a route', () => {
  it('have their order, weight and priority, and the prices of the route where they state none', () => {
    const { targets } = read(
      `    byok_fee_percent: 5\n    price_pkr_per_call: { web_search: 3 }\n${list(
        `${ONE}, weight: 1000, priority: 100`,
        `${TWO}, price_pkr_per_million: { input: 0.000001, output: 7.5, tiers: [{ above_prompt_tokens: 9, input: 4.5 }] }, price_pkr_per_call: {}, byok_fee_percent: 2.5`,
      )}`,
    );
    const summary = targets.map((target) => [
      ...[target.provider, target.upstream_model, target.weight, target.priority],
      ...[target.price_pkr_per_million.input, target.price_pkr_per_million.cache_read],
      ...[target.price_pkr_per_million.tiers[0]?.input, target.price_pkr_per_call, target.byok_fee_percent],
    ]);
    assert.deepEqual(summary, [
      ['one', 'm', 1_000, 100, 1_000_000n, 1_000_000n, undefined, { web_search: 3_000_000n }, 50_000n],
      ['two', 'n', 1, 1, 1n, 1n, 4_500_000n, {}, 25_000n],
    ]);
  });

  it('may all state their price, and the route then has none', () => {
    const { targets } = read(list(`${ONE}, price_pkr_per_million: { input: 1, output: 2 }`), '');
    assert.equal(targets[0]?.price_pkr_per_million.output, 2_000_000n);
  });

  it('may be models of one provider', () => {
    assert.equal(read(list(ONE, 'provider: one, upstream_model: n')).targets.length, 2);
  });

  it('serve the endpoints that all of them have, unless the file names fewer', () => {
    assert.deepEqual(read(list(ONE, TWO)).endpoints, ['chat', 'responses', 'messages']);
    assert.deepEqual(read(list(ONE, 'provider: vectors, upstream_model: e')).endpoints, ['embeddings']);
    assert.deepEqual(read(`${list(ONE, TWO)}    endpoints: [messages]\n`).endpoints, ['messages']);
  });

  it('have limits of their own beside the time limit of the route', () => {
    const route = read(
      `${list(ONE)}    timeout_ms: 600000\n    max_attempts: 16\n    attempt_timeout_ms: 600000\n    queue_ms: 600000\n`,
    );
    assert.deepEqual([route.max_attempts, route.attempt_timeout_ms, route.queue_ms], [16, 600_000, 600_000]);
  });

  const many = (count: number) =>
    list(...Array.from({ length: count }, (_, index) => `provider: one, upstream_model: m${index}`));

  it('are 16 at most', () => assert.equal(read(many(16)).targets.length, 16));

  const rejected: [what: string, route: string, issue: RegExp, price?: string][] = [
    [
      'no target',
      '',
      /line 14 column 5 \(routes\.0\.provider\): is missing; must be text, or .* targets \(and 1 more\)$/,
    ],
    ['an empty list', '    targets: []\n', /\(routes\.0\.targets\): must not be empty$/],
    ['17 targets', many(17), /\(routes\.0\.targets\): must have at most 16 targets$/],
    ['what is no list', '    targets: one\n', /\(routes\.0\.targets\): must be a list$/],
    [
      'targets beside a provider',
      `    provider: one\n    upstream_model: m\n${list(TWO)}`,
      /line 17 column 15 \(routes\.0\.provider\): cannot be stated beside targets, each of which names its own \(and 1 more\)$/,
    ],
    [
      'a target twice',
      list(ONE, TWO, ONE),
      /\(routes\.0\.targets\.2\): the model m of one is a target already$/,
    ],
    [
      'an unknown provider',
      list(ONE, 'provider: tow, upstream_model: m'),
      /\(routes\.0\.targets\.1\.provider\): is "tow", which is not a provider; known are one, two, vectors, demo$/,
    ],
    [
      'a target without a model',
      list('provider: one'),
      /targets\.0\.upstream_model\): is missing; must be text/,
    ],
    [
      'an unknown member',
      list(`${ONE}, wieght: 2`),
      /\(routes\.0\.targets\.0\.wieght\): is not a known member; accepted are provider, upstream_model, price_pkr_per_million, .*weight, priority$/,
    ],
    [
      'an unknown price',
      list(
        `${ONE}, price_pkr_per_million: { input: 1, output: 2, tiers: [{ above_prompt_tokens: 1, in: 2 }] }`,
      ),
      /targets\.0\.price_pkr_per_million\.tiers\.0\.in\): is not a known member; accepted are above_prompt_tokens, input/,
    ],
    [
      'half a price',
      list(`${ONE}, price_pkr_per_million: { input: 1 }`),
      /targets\.0\.price_pkr_per_million\.output\): is missing; must be a number$/,
    ],
    [
      'an inexact price',
      list(`${ONE}, price_pkr_per_call: { x: 1e-7 }`),
      /price_pkr_per_call\.x\): is 1e-7 and must be/,
    ],
    [
      'a target without a price',
      list(`${ONE}, price_pkr_per_million: { input: 1, output: 2 }`, TWO),
      /targets\.1\.price_pkr_per_million\): is missing; must be a mapping of members, here or in the route, for all/,
      '',
    ],
    [
      'no price',
      `    provider: one\n    upstream_model: m\n`,
      /price_pkr_per_million\): is missing; must be a mapping/,
      '',
    ],
    ['a weight of 0', list(`${ONE}, weight: 0`), /targets\.0\.weight\): must be at least 1$/],
    ['a weight of 1001', list(`${ONE}, weight: 1001`), /targets\.0\.weight\): must be at most 1000$/],
    ['half a weight', list(`${ONE}, weight: 1.5`), /targets\.0\.weight\): must be a whole number$/],
    ['a priority of 0', list(`${ONE}, priority: 0`), /targets\.0\.priority\): must be at least 1$/],
    ['a priority of 101', list(`${ONE}, priority: 101`), /targets\.0\.priority\): must be at most 100$/],
    [
      'an endpoint that one target cannot serve',
      `${list(ONE, TWO)}    endpoints: [chat, embeddings]\n`,
      /\(routes\.0\.endpoints\): the provider two has messages, count_tokens and cannot serve embeddings; accepted are chat, responses, messages$/,
    ],
    [
      'targets without an endpoint in common',
      list(TWO, 'provider: vectors, upstream_model: e'),
      /\(routes\.0\.targets\): have no endpoint in common: two has messages, count_tokens; vectors has embeddings$/,
    ],
    ['no attempt', `${list(ONE)}    max_attempts: 0\n`, /max_attempts\): must be at least 1$/],
    ['17 attempts', `${list(ONE)}    max_attempts: 17\n`, /max_attempts\): must be at most 16$/],
    ['no time', `${list(ONE)}    attempt_timeout_ms: 0\n`, /attempt_timeout_ms\): must be at least 1$/],
    [
      'an attempt that outlasts the route',
      `${list(ONE)}    timeout_ms: 5\n    attempt_timeout_ms: 6\n`,
      /line 19 column 25 \(routes\.0\.attempt_timeout_ms\): is 6 and must be at most timeout_ms, which is 5$/,
    ],
    [
      'a wait that outlasts the route',
      `${list(ONE)}    timeout_ms: 5\n    queue_ms: 6\n`,
      /queue_ms\): is 6 and must be/,
    ],
    [
      'a long wait',
      `${list(ONE)}    queue_ms: 600001\n    timeout_ms: 600001\n`,
      /queue_ms\): must be at most 600000$/,
    ],
    ['a wait before now', `${list(ONE)}    queue_ms: -1\n`, /queue_ms\): must be at least 0$/],
  ];
  for (const [what, route, issue, price] of rejected) {
    it(`rejects ${what}`, () => {
      assert.throws(() => read(route, price), { name: 'CatalogueError', message: issue });
    });
  }

  it('rejects the id of the built-in route with a target elsewhere', () => {
    const text = file(list('provider: demo, upstream_model: echo', ONE)).replace('id: a/b', 'id: demo/echo');
    assert.throws(() => readCatalogue(text, 'f.yaml'), { message: /its provider is demo$/ });
  });

  it('rejects 30,000 targets without exhausting the process', () => {
    const text = file(`    targets: [${'{},'.repeat(30_000)}]\n`);
    assert.throws(
      () => readCatalogue(text, 'f.yaml'),
      (error) => error instanceof CatalogueError && error.issues.length <= 1_000,
    );
  });
});
