import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CatalogueError, readCatalogue } from './read-catalogue.ts';

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
  it('reads prices exactly and fills in what may be left out', () => {
    assert.deepEqual(readCatalogue(route('    byok_fee_percent: 2.5'), 'f.yaml').routes[0], {
      id: 'local/llama',
      provider: 'local',
      upstream_model: 'llama',
      endpoints: ['chat'],
      price_pkr_per_million: { input: 1n, output: 7_500_000n, cache_write: 0n, cache_read: 0n },
      byok_fee_percent: 25_000n,
      max_output_tokens: 4096,
      allow: [],
      timeout_ms: 600_000,
      active: true,
    });
    assert.equal(
      readCatalogue(route(''), 'f.yaml').providers['local']?.base_url,
      'http://127.0.0.1:11434/v1',
    );
  });

  it('names every mistake of a file, in its order, not only the first', () => {
    const text = route('    timeout: 5\n    active: 1')
      .replace('base_url', 'base_uri')
      .replace('output: 7.5', 'output: -7.5');
    assert.throws(
      () => readCatalogue(text, 'f.yaml'),
      (error) => {
        assert.ok(error instanceof CatalogueError);
        assert.deepEqual(
          error.issues.map(({ line, column, path }) => [line, column, path]),
          [
            [3, 5, 'providers.local.base_url'],
            [4, 5, 'providers.local.base_uri'],
            [9, 55, 'routes.0.price_pkr_per_million.output'],
            [11, 5, 'routes.0.timeout'],
            [12, 13, 'routes.0.active'],
          ],
        );
        assert.match(
          error.message,
          /^f\.yaml line 3 column 5 \(providers\.local\.base_url\): is missing; .* \(and 4 more\)$/,
        );
        return true;
      },
    );
  });

  it('reads what a provider denies and what a provider or a route allows besides', () => {
    const text = route('    allow: [models, { tools: [web_search] }]').replace(
      '    base_url',
      '    deny:\n      - models\n      - service_tier: [auto, 1, true, auto]\n    allow: [{ modalities: [image] }]\n    base_url',
    );
    const { providers, routes } = readCatalogue(text, 'f.yaml');
    assert.deepEqual(providers['local']?.deny, [
      { member: 'models', values: null },
      { member: 'service_tier', values: ['auto', '1', 'true'] },
    ]);
    assert.deepEqual(providers['local']?.allow, [{ member: 'modalities', values: ['image'] }]);
    assert.deepEqual(routes[0]?.allow, [
      { member: 'models', values: null },
      { member: 'tools', values: ['web_search'] },
    ]);
    assert.equal(readCatalogue(route(''), 'f.yaml').providers['local']?.deny, undefined);
    assert.deepEqual(
      readCatalogue(route('').replace('base_url', 'deny: []\n    base_url'), 'f').providers['local']?.deny,
      [],
    );
  });

  it('names what contradicts, what is malformed and what is repeated together', () => {
    const text = route(
      `    default_output_tokens: 5000
    timeout_ms: soon
    endpoints: [chat, chat, chats]
    active: true
    active: true
  - id: local/llama
    provider: lokal
    upstream_model: llama
    price_pkr_per_million: { input: 1 }
    max_output_tokens: 1`,
    );
    assert.throws(
      () => readCatalogue(text, 'f.yaml'),
      (error) => {
        assert.ok(error instanceof CatalogueError);
        assert.deepEqual(
          error.issues.map(({ line, path }) => [line, path]),
          [
            [11, 'routes.0.default_output_tokens'],
            [12, 'routes.0.timeout_ms'],
            [13, 'routes.0.endpoints'],
            [13, 'routes.0.endpoints.2'],
            [15, ''],
            [16, 'routes.1.id'],
            [17, 'routes.1.provider'],
            [19, 'routes.1.price_pkr_per_million.output'],
          ],
        );
        return true;
      },
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
      /^f\.yaml line 11 column 17 \(routes\.0\.timeout_ms\): /,
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
    ['broken YAML', 'providers: {', /^f\.yaml line 1 /],
    ['an empty file', '', /line 1 column 1: must have providers and routes/],
    ['a list', '- 1', /line 1 column 1: must be a mapping/],
    [
      'a member that is not known, at its own place',
      route('    timeout: 5'),
      /^f\.yaml line 11 column 5 \(routes\.0\.timeout\): is not a known member; accepted are id, provider, .*timeout_ms/,
    ],
    [
      'a price of another kind',
      route('').replace('output: 7.5', 'outputs: 7.5'),
      /line 9 .*is missing; must be a number \(and 1 more\)$/,
    ],
    ['a price that a double would round', route('').replace('7.5', '0.30000000000000000001'), /6 decimals/],
    [
      'a price beyond what is kept',
      route('').replace('7.5', '9007199254.740992'),
      /at most 9007199254\.740991/,
    ],
    ['a price in quotes', route('').replace('7.5', '"7.5"'), /line 9 .*must be a number/],
    ['a price in base 16', route('').replace('7.5', '0x10'), /is 0x10 and must be a decimal number/],
    ['a fee above 100', route('    byok_fee_percent: 100.1'), /line 11 .*from 0 to 100/],
    ['a limit of no token', route('').replace('4096', '0'), /max_output_tokens\): must be at least 1$/],
    [
      'a limit that is not whole',
      route('').replace('4096', '1.5'),
      /max_output_tokens\): must be a whole number$/,
    ],
    [
      'a default cap above the maximum',
      route('    default_output_tokens: 4097'),
      /line 11 .*default_output_tokens\): is 4097 and must be at most max_output_tokens, which is 4096$/,
    ],
    [
      'a least cap above the maximum, and the other contradictions with it',
      route('    min_output_tokens: 4097\n    default_output_tokens: 5000\n    endpoints: [messages]'),
      /line 11 .*min_output_tokens\): is 4097 and must be at most max_output_tokens.* \(and 2 more\)$/,
    ],
    ['a context of nothing', route('    max_input_tokens: 0'), /max_input_tokens\): must be at least 1$/],
    [
      'an unknown name of the output cap',
      route('').replace('base_url', 'output_limit: max_output_tokens\n    base_url'),
      /line 4 .*output_limit\): must be max_tokens or max_completion_tokens or both$/,
    ],
    [
      'a rule in another form, and the others of the list',
      route('    allow: [5, { a: [x], b: [y] }, service_tier: flex, { speed: [] }, "", speed, speed]'),
      /^f\.yaml line 11 column 13 \(routes\.0\.allow\.0\): must be the name of a member .* \(and 6 more\)$/,
    ],
    [
      'a rule whose values are none',
      route('    allow: [service_tier: flex]'),
      /^f\.yaml line 11 column 27 \(routes\.0\.allow\.0\.service_tier\): must be a list of 1 to 64 values$/,
    ],
    [
      'a rule with a value that is no text',
      route('    allow: [{ tools: [{ type: mcp }] }]'),
      /\(routes\.0\.allow\.0\.tools\): must contain only texts/,
    ],
    [
      'a member with two rules',
      route('    allow: [speed, speed: [fast]]'),
      /allow\.1\): the member speed is named twice$/,
    ],
    ['rules in another form', route('    allow: { speed: [fast] }'), /allow\): must be a list$/],
    ['a time limit over a day', route('    timeout_ms: 86400001'), /must be at most 86400000$/],
    ['a word for a yes', route('    active: maybe'), /must be true or false$/],
    [
      'an unknown endpoint',
      route('    endpoints: [chats]'),
      /endpoints\.0\): must be chat or completions or/,
    ],
    ['no endpoint', route('    endpoints: []'), /endpoints\): must not be empty$/],
    ['an endpoint twice', route('    endpoints: [chat, chat]'), /must name each endpoint once$/],
    [
      'an endpoint that the protocol does not have',
      route('    endpoints: [messages]'),
      /speaks openai and has no endpoint messages; accepted are chat, completions, embeddings$/,
    ],
    [
      'embeddings at a provider that speaks Anthropic',
      route('    endpoints: [embeddings]').replace('protocol: openai', 'protocol: anthropic'),
      /speaks anthropic and has no endpoint embeddings; accepted are chat, messages$/,
    ],
    [
      'an unknown protocol',
      route('').replace('protocol: openai', 'protocol: grpc'),
      /line 3 column 15 .*openai or anthropic/,
    ],
    [
      'an address with a password',
      route('').replace('http://', 'http://me:secret@'),
      /line 4 .*without a user name/,
    ],
    [
      'an address with a query',
      route('').replace('/v1/', '/v1?key=1'),
      /line 4 .*without a user name, a query/,
    ],
    ['an address with one slash', route('').replace('http://', 'http:/'), /line 4 .*http:\/\//],
    [
      'a variable that can be none',
      route('').replace('base_url', 'api_key_env: A KEY\n    base_url'),
      /line 4 .*environment variable/,
    ],
    [
      'a provider with capitals',
      route('').replace('  local:', '  Local:'),
      /^f\.yaml line 2 column 3 \(providers\.Local\): must be a name of/,
    ],
    [
      'an id with a space',
      route('').replace('id: local/llama', 'id: local llama'),
      /line 6 column 9 .*without spaces/,
    ],
    [
      'an id that is too long',
      route('').replace('id: local/llama', `id: ${'x'.repeat(201)}`),
      /1 to 200 printable/,
    ],
    [
      'an id that YAML takes for a number',
      route('').replace('id: local/llama', 'id: 4'),
      /id\): must be text \(in quotes/,
    ],
    [
      'the id of the built-in route at another provider',
      route('').replace('id: local/llama', 'id: demo/echo'),
      /line 6 .*its provider is demo$/,
    ],
    [
      'a key that is given twice',
      route('    active: true\n    active: false'),
      /^f\.yaml line 12 column 5: .*unique/,
    ],
    ['a tag that means nothing', route('    active: !secret true'), /^f\.yaml line 11 /],
    ['routes that are none', `${PROVIDERS}routes: later\n`, /\(routes\): must be a list$/],
  ];
  for (const [what, text, message] of faults) {
    it(`refuses ${what}, saying where`, () => {
      assert.throws(
        () => readCatalogue(text, 'f.yaml'),
        (error) => {
          assert.ok(error instanceof CatalogueError);
          assert.match(error.message, message);
          return true;
        },
      );
    });
  }
});
