import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GATEWAY_ENDPOINTS, providerFlags } from '@gatehouse/contract';
import { readCatalogue } from './read-catalogue.ts';

const file = (line: string, protocol = 'openai') => `providers:
  house:
    protocol: ${protocol}
    base_url: https://house.example/v1
    api_key_env: HOUSE_KEY
    ${line}
routes:
  - { id: house/m, provider: house, upstream_model: m, price_pkr_per_million: { input: 1, output: 2 }, max_output_tokens: 10 }
`;

const flagsOf = (line: string) => readCatalogue(file(line), 'f.yaml').providers['house']?.flags;

describe('the flags of a provider', () => {
  const read: [line: string, flags: object][] = [
    ['auth: api-key', { auth: 'api-key' }],
    ['auth: { header: X-Key }', { auth: { header: 'x-key' } }],
    [
      'headers: { X-Team: "a b", http-referer: "https://x.example" }',
      {
        headers: { 'x-team': 'a b', 'http-referer': 'https://x.example' },
      },
    ],
    ['query: { api-version: preview }', { query: { 'api-version': 'preview' } }],
    ['surfaces: [chat, responses]', { surfaces: { chat: '/chat/completions', responses: '/responses' } }],
    ['surfaces: { messages: /anthropic/v1/messages }', { surfaces: { messages: '/anthropic/v1/messages' } }],
    ['stream_usage: never', { streamUsage: 'never' }],
    ['drop: [user, n, user]', { drop: ['user', 'n'] }],
    ['keep: [reasoning_content, extra_content]', { keep: ['reasoning_content', 'extra_content'] }],
    ['strict_fields: true', { strictFields: true }],
    ['beta_headers: strip', { betaHeaders: 'strip' }],
    ['beta_headers: { a-2025: b-2026, c: null }', { betaHeaders: { 'a-2025': 'b-2026', c: null } }],
    ['add: { anthropic_version: v-1, n: 1, x: true }', { add: { anthropic_version: 'v-1', n: 1, x: true } }],
    [
      'surfaces: { messages: "/models/{model}:{raw|streamRaw}" }',
      { surfaces: { messages: '/models/{model}:{raw|streamRaw}' } },
    ],
    ['proxy: http://proxy.example:3128', { proxy: 'http://proxy.example:3128' }],
    ['proxy: none', { proxy: 'none' }],
    ['output_limit: both', {}],
  ];
  for (const [line, flags] of read) {
    it(`reads ${line}`, () => assert.deepEqual(flagsOf(line), flags));
  }

  const rejected: [line: string, issue: RegExp][] = [
    [
      'auth: basic',
      /line 6 column 11 \(providers\.house\.auth\): must be bearer or x-api-key or api-key or none, or/,
    ],
    [
      'auth: { header: authorization }',
      /auth\.header\): must be the name of a header that the gateway does not set/,
    ],
    [
      'headers: { Authorization: Bearer x }',
      /column 16 .*must be the name of a header that the gateway does not set/,
    ],
    ['headers: { Content-Length: "1" }', /a header that the gateway does not set/],
    ['headers: { X-Forwarded-For: "1" }', /a header that the gateway does not set/],
    ['headers: { "x y": "1" }', /a header that the gateway does not set/],
    ['headers: { x-a: "1\\r\\nx-b: 2" }', /printable ASCII/],
    ['headers: { x-a: 1 }', /must be text/],
    ['headers: { x-a: a, X-A: b }', /the header X-A is named twice/],
    [
      `headers: { ${Array.from({ length: 33 }, (_, index) => `x-${index}: a`).join(', ')} }`,
      /at most 32 entries/,
    ],
    ['query: { "a b": c }', /without spaces/],
    ['surfaces: []', /surfaces\): must/],
    ['surfaces: {}', /surfaces\): must not be empty/],
    [
      'surfaces: [chats]',
      /surfaces\): must be a list of chat, completions, embeddings, responses, messages, count_tokens, or/,
    ],
    ['surfaces: { chat: chat/completions }', /surfaces\.chat\): must be a path below base_url/],
    ['surfaces: { chat: "/a?b" }', /surfaces\.chat\): must be a path below base_url/],
    ['surfaces: { chat: "/../admin" }', /surfaces\.chat\): must be a path below base_url/],
    ['surfaces: { chat: "/%2e%2E/admin" }', /surfaces\.chat\): must be a path below base_url/],
    ['stream_usage: sometimes', /must be ask or never or always/],
    [
      'drop: [messages]',
      /line 6 column 12 \(providers\.house\.drop\.0\): is messages, which is the prompt and is always sent/,
    ],
    ['drop: [user, max_tokens]', /drop\.1\): is max_tokens, which limits the cost; output_limit says/],
    ['drop: ["a b"]', /without spaces/],
    ['keep: [thinking]', /keep\.0\): must be reasoning_content or reasoning_details or extra_content/],
    ['strict_fields: yes please', /must be true or false/],
    ['beta_headers: drop', /must be forward or strip, or a mapping/],
    ['add: { model: x }', /add\.model\): model names the model; the gateway writes it itself/],
    ['add: { user: x }\n    drop: [user]', /add\.user\): user is dropped too/],
    ['add: { a: [1] }', /add\.a\): must be text, a number, true or false/],
    ['surfaces: { chat: "/{name}" }', /surfaces\.chat\): must be a path below base_url/],
    [
      'credential: { kind: aws, region: us-east-1 }',
      /credential\): is one of a cloud, and cannot be stated beside/,
    ],
    ['proxy: socks5://proxy.example', /proxy\): must be none, or the address of a proxy such as http/],
    ['proxy: http://ada:pass@proxy.example', /without a user: one with a password belongs in HTTPS_PROXY/],
    ['ca_file: ca.pem', /ca_file\): must be the absolute path of a PEM file/],
    ['ca_file: /missing/ca.pem', /line 6 .*ca_file\): is "\/missing\/ca.pem", which cannot be read: ENOENT/],
    ['client_cert_file: /missing/cert.pem', /client_cert_file\): needs client_key_file beside it/],
    ['client_key_file: /missing/key.pem', /client_key_file\): needs client_cert_file beside it/],
    ['auth: none', /line 6 column 11 \(providers\.house\.auth\): is none, and the provider has a key/],
    ['auth: { header: x-key }\n    headers: { X-Key: a }', /line 7 .*X-Key holds the credential, by auth/],
    [
      'surfaces: [embeddings, count_tokens]\n    fallback: 1',
      /line 7 .*fallback\): is not a known member; accepted are protocol, .*auth, .*beta_headers/,
    ],
  ];
  for (const [line, issue] of rejected) {
    it(`rejects ${line.slice(0, 60)}`, () => {
      assert.throws(() => readCatalogue(file(line), 'f.yaml'), { name: 'CatalogueError', message: issue });
    });
  }

  it('rejects certificates of a provider that is asked over plain HTTP', () => {
    const text = file('ca_file: /etc/ca.pem').replace('https://', 'http://');
    assert.throws(() => readCatalogue(text, 'f.yaml'), {
      message: /ca_file\): is only for a base_url with https/,
    });
  });

  const CREDENTIALS: readonly (readonly [string, object | RegExp])[] = [
    ['{ kind: aws, region: us-east-1 }', { kind: 'aws', region: 'us-east-1', service: 'bedrock' }],
    ['{ kind: aws, region: us-east-1, service: x }', { kind: 'aws', region: 'us-east-1', service: 'x' }],
    ['{ kind: google }', { kind: 'google', scopes: ['https://www.googleapis.com/auth/cloud-platform'] }],
    ['{ kind: google, scopes: [a, b] }', { kind: 'google', scopes: ['a', 'b'] }],
    ['{ kind: azure }', { kind: 'azure', scope: 'https://cognitiveservices.azure.com/.default' }],
    ['{ kind: aws }', /credential\.region\): is missing; must be text/],
    ['{ kind: oracle }', /credential.*must be a mapping whose kind is aws, google or azure/],
    ['sk-secret', /credential\): must be a mapping of members/],
    [
      '{ kind: azure, region: x }',
      /region\): is not a known member; accepted are kind, region and service \(aws\), scopes \(google\), scope \(azure\)/,
    ],
    ['{ kind: google, scopes: ["a b"] }', /without spaces/],
  ];
  for (const [credential, expected] of CREDENTIALS)
    it(`${expected instanceof RegExp ? 'rejects' : 'reads'} credential: ${credential}`, () => {
      const read = () =>
        readCatalogue(
          file(`credential: ${credential}`).replace('    api_key_env: HOUSE_KEY\n', ''),
          'f.yaml',
        );
      if (expected instanceof RegExp) assert.throws(read, { message: expected });
      else assert.deepEqual(read().providers['house']?.flags.credential, expected);
    });

  it('rejects auth beside the credential of a cloud', () => {
    const text = file('auth: bearer\n    credential: { kind: google }').replace(
      '    api_key_env: HOUSE_KEY\n',
      '',
    );
    assert.throws(() => readCatalogue(text, 'f.yaml'), { message: /auth\): is decided by credential/ });
  });

  it('rejects auth at a provider that takes no key', () => {
    const text = file('auth: bearer').replace('    api_key_env: HOUSE_KEY\n', '');
    assert.throws(() => readCatalogue(text, 'f.yaml'), { message: /auth\): needs api_key_env/ });
  });
});

describe('the endpoints of a route', () => {
  const endpoints = (provider: string, line = '') => {
    const [openai, more = ''] = provider.split(';');
    return readCatalogue(
      file(more, openai).replace('max_output_tokens', `${line}max_output_tokens`),
      'f.yaml',
    ).routes[0]?.endpoints;
  };
  const cases: [provider: string, expected: string][] = [
    ['openai', 'chat,responses,messages'],
    ['anthropic', 'chat,responses,messages'],
    ['openai;surfaces: [responses]', 'chat,responses,messages'],
    ['openai;surfaces: [embeddings]', 'embeddings'],
    ['openai;surfaces: [completions, embeddings]', 'completions,embeddings'],
  ];
  for (const [provider, expected] of cases) {
    it(`are ${expected} unless stated, for ${provider}`, () =>
      assert.equal(endpoints(provider)?.join(), expected));
  }

  it('are all of them at the built-in provider', () => {
    const text = file('').replace('provider: house', 'provider: demo');
    assert.deepEqual(readCatalogue(text, 'f.yaml').routes[0]?.endpoints, GATEWAY_ENDPOINTS);
  });

  it('are those that the file states, of those that its provider gives', () => {
    assert.deepEqual(endpoints('openai', 'endpoints: [embeddings], '), ['embeddings']);
    assert.deepEqual(endpoints('anthropic;surfaces: [chat]', 'endpoints: [messages], '), ['messages']);
    assert.throws(() => endpoints('anthropic', 'endpoints: [chat, completions], '), {
      message:
        /line 8 column \d+ \(routes\.0\.endpoints\): the provider house has messages, count_tokens and cannot serve completions; accepted are chat, responses, messages$/,
    });
    assert.throws(() => endpoints('openai;surfaces: [embeddings]', 'endpoints: [chat], '), {
      message: /has embeddings and cannot serve chat; accepted are embeddings$/,
    });
    assert.throws(() => endpoints('openai;surfaces: [count_tokens]'), {
      message:
        /routes\.0\.provider\): is house, which has only count_tokens; no endpoint can be served by it$/,
    });
  });
});

describe('providerFlags', () => {
  it('completes what a catalogue states by the protocol', () => {
    const openai = providerFlags('openai', { drop: ['user'] });
    assert.deepEqual(openai, {
      auth: 'bearer',
      headers: {},
      query: {},
      surfaces: { chat: '/chat/completions', completions: '/completions', embeddings: '/embeddings' },
      streamUsage: 'ask',
      drop: ['user'],
      keep: [],
      strictFields: false,
      betaHeaders: 'strip',
      ...{ add: null, credential: null },
      ...{ proxy: null, caFile: null, clientCertFile: null, clientKeyFile: null },
    });
    const anthropic = providerFlags('anthropic', {});
    assert.deepEqual(
      [anthropic.auth, anthropic.surfaces, anthropic.betaHeaders],
      ['x-api-key', { messages: '/messages', count_tokens: '/messages/count_tokens' }, 'forward'],
    );
  });
});
