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
  it('reads prices exactly and fills in defaults', () => {
    assert.deepEqual(readCatalogue(route('    byok_fee_percent: 2.5'), 'f.yaml').routes[0], {
      id: 'local/llama',
      targets: [
        {
          provider: 'local',
          upstream_model: 'llama',
          price_pkr_per_million: {
            input: 1n,
            output: 7_500_000n,
            cache_write: 1n,
            cache_read: 1n,
            cache_write_1h: 1n,
            tiers: [],
          },
          price_pkr_per_call: {},
          byok_fee_percent: 25_000n,
          weight: 1,
          priority: 1,
        },
      ],
      aliases: [],
      endpoints: ['chat', 'responses', 'messages'],
      max_output_tokens: 4096,
      allow: [],
      timeout_ms: 600_000,
      max_attempts: 3,
      queue_ms: 0,
      active: true,
    });
    assert.equal(
      readCatalogue(route(''), 'f.yaml').providers['local']?.base_url,
      'http://127.0.0.1:11434/v1',
    );
  });

  it('names every issue of a file, in the order of the file', () => {
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

  it('reads the deny list of a provider and the allow lists of providers and routes', () => {
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

  it('names inconsistent, malformed and repeated members together', () => {
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
      readCatalogue(route('').replace('provider: local', 'provider: demo'), 'f').routes[0]?.targets[0]
        ?.provider,
      'demo',
    );
  });

  const rejects = (what: string, text: string, issue: RegExp) =>
    it(`rejects ${what}`, () => {
      assert.throws(() => readCatalogue(text, 'f.yaml'), { name: 'CatalogueError', message: issue });
    });

  const whole: [what: string, text: string, issue: RegExp][] = [
    ['broken YAML', 'providers: {', /^f\.yaml line 1 /],
    ['an empty file', '', /line 1 column 1: must have providers and routes/],
    ['a list', '- 1', /line 1 column 1: must be a mapping/],
    ['a route named twice', `${route('')}${route('').split('routes:\n')[1]}`, /local\/llama is named twice/],
    ['routes that are no list', `${PROVIDERS}routes: later\n`, /\(routes\): must be a list$/],
    [
      'the built-in provider declared',
      route('').replace('  local:', '  demo:').replace('provider: local', 'provider: demo'),
      /built in/,
    ],
    [
      'embeddings at a provider that speaks Anthropic',
      route('    endpoints: [embeddings]').replace('protocol: openai', 'protocol: anthropic'),
      /has messages, count_tokens and cannot serve embeddings; accepted are chat, responses, messages$/,
    ],
    [
      'a token limit above the maximum, and the other inconsistencies with it',
      route(
        '    min_output_tokens: 4097\n    default_output_tokens: 5000\n    endpoints: [embeddings]',
      ).replace('protocol: openai', 'protocol: anthropic'),
      /line 11 .*min_output_tokens\): is 4097 and must be at most max_output_tokens.* \(and 2 more\)$/,
    ],
  ];
  for (const [what, text, issue] of whole) rejects(what, text, issue);

  // A line added to a valid route, which is line 11.
  const added: [line: string, issue: RegExp][] = [
    ['timeout_ms: soon', /^f\.yaml line 11 column 17 \(routes\.0\.timeout_ms\): /],
    [
      'timeout: 5',
      /^f\.yaml line 11 column 5 \(routes\.0\.timeout\): is not a known member; accepted are id, provider, .*timeout_ms/,
    ],
    ['byok_fee_percent: 100.1', /line 11 .*from 0 to 100/],
    [
      'default_output_tokens: 4097',
      /line 11 .*\): is 4097 and must be at most max_output_tokens, which is 4096$/,
    ],
    ['max_input_tokens: 0', /max_input_tokens\): must be at least 1$/],
    [
      'allow: [5, { a: [x], b: [y] }, service_tier: flex, { speed: [] }, "", speed, speed]',
      /^f\.yaml line 11 column 13 \(routes\.0\.allow\.0\): must be the name of a member .* \(and 6 more\)$/,
    ],
    [
      'allow: [service_tier: flex]',
      /^f\.yaml line 11 column 27 \(routes\.0\.allow\.0\.service_tier\): must be a list of 1 to 64 values$/,
    ],
    ['allow: [{ tools: [{ type: mcp }] }]', /\(routes\.0\.allow\.0\.tools\): must contain only texts/],
    ['allow: [speed, speed: [fast]]', /allow\.1\): the member speed is named twice$/],
    ['allow: { speed: [fast] }', /allow\): must be a list$/],
    ['timeout_ms: 86400001', /must be at most 86400000$/],
    ['active: maybe', /must be true or false$/],
    ['endpoints: [chats]', /endpoints\.0\): must be chat or completions or/],
    ['endpoints: []', /endpoints\): must not be empty$/],
    ['endpoints: [chat, chat]', /must name each endpoint once$/],
    ['active: true\n    active: false', /^f\.yaml line 12 column 5: .*unique/],
    ['active: !secret true', /^f\.yaml line 11 /],
  ];
  for (const [line, issue] of added) rejects(line, route(`    ${line}`), issue);

  // A part of a valid file replaced.
  const replaced: [from: string, to: string, issue: RegExp][] = [
    ['output: 7.5', 'output: -1', /^f\.yaml line 9 .*at least 0/],
    ['output: 7.5', 'outputs: 7.5', /line 9 .*is missing; must be a number \(and 1 more\)$/],
    ['7.5', '0.0000001', /line 9 .*6 decimals/],
    ['7.5', '0.30000000000000000001', /6 decimals/],
    ['7.5', '9007199254.740992', /at most 9007199254\.740991/],
    ['7.5', '"7.5"', /line 9 .*must be a number/],
    ['7.5', '0x10', /is 0x10 and must be a decimal number/],
    ['4096', '0', /max_output_tokens\): must be at least 1$/],
    ['4096', '1.5', /max_output_tokens\): must be a whole number$/],
    ['    upstream_model: llama\n', '', /line 6 .*upstream_model/],
    ['provider: local', 'provider: lokal', /line 7 .*lokal/],
    ['http://', 'ftp://', /line 4 .*http/],
    ['http://', 'http:/', /line 4 .*http:\/\//],
    ['http://', 'http://me:secret@', /line 4 .*without a user name/],
    ['/v1/', '/v1?key=1', /line 4 .*without a user name, a query/],
    ['protocol: openai', 'protocol: grpc', /line 3 column 15 .*openai or anthropic/],
    [
      'base_url',
      'output_limit: max_output_tokens\n    base_url',
      /line 4 .*output_limit\): must be max_tokens or max_completion_tokens or both$/,
    ],
    ['base_url', 'api_key_env: A KEY\n    base_url', /line 4 .*environment variable/],
    ['  local:', '  Local:', /^f\.yaml line 2 column 3 \(providers\.Local\): must be a name of/],
    ['id: local/llama', 'id: local llama', /line 6 column 9 .*without spaces/],
    ['id: local/llama', `id: ${'x'.repeat(201)}`, /1 to 200 printable/],
    ['id: local/llama', 'id: 4', /id\): must be text \(in quotes/],
    ['id: local/llama', 'id: demo/echo', /line 6 .*its provider is demo$/],
  ];
  for (const [from, to, issue] of replaced)
    rejects(`${to} in place of ${from}`, route('').replace(from, to), issue);
});
