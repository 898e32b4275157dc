import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { sql, statement } from '@gatehouse/store';
import OpenAI from 'openai';
import { assertError, rateHeadersOf, useBench } from '../testing/bench.ts';
import { addRoute, issueKey } from '../testing/test-gateway.ts';

interface ModelList {
  readonly object: string;
  readonly data: readonly { readonly id: string; readonly [member: string]: unknown }[];
  readonly has_more: boolean;
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly models: readonly { readonly slug: string; readonly [member: string]: unknown }[];
}

// The route of the bench has no alias yet.
const insertAlias = statement<{ alias: string; routeId: string }>(
  'gateway-test-insert-model-alias',
  sql`INSERT INTO route_aliases (alias, route_id) VALUES (${'alias'}, ${'routeId'})`,
);

const bench = await useBench();

describe('GET /v1/models', () => {
  before(async () => {
    await addRoute(bench.database, { id: 'a/first', aliases: ['first-alias'], maxInputTokens: 200_000 });
    await addRoute(bench.database, { id: 'z/inactive', isActive: false });
    await addRoute(bench.database, { id: 'B/capital' });
    await addRoute(bench.database, { id: 'a-first' });
    await addRoute(bench.database, { id: 'a/echo', protocol: 'demo' });
    await addRoute(bench.database, { id: 'a/claude', protocol: 'anthropic' });
    await addRoute(bench.database, { id: 'a/vectors', endpoints: ['embeddings'] });
    await addRoute(bench.database, {
      id: 'a/both',
      endpoints: ['embeddings', 'responses', 'chat'],
      flags: { surfaces: { chat: '/c', responses: '/r', embeddings: '/e' } },
    });
    await bench.database.run(insertAlias, { alias: 'z-alias', routeId: 'mock/model' });
  });
  const list = async (secret: string, query = '', headers: Record<string, string> = {}) => {
    const response = await bench.gateway.fetch(`/v1/models${query}`, {
      headers: { 'x-api-key': secret, ...headers },
    });
    assert.equal(response.status, 200);
    return (await response.json()) as ModelList;
  };
  const none: Readonly<Record<string, unknown>> = {};
  const ids = ({ data }: ModelList) => data.map(({ id }) => id);
  const ALL = [
    'B/capital',
    'a-first',
    'a/both',
    'a/echo',
    'a/first',
    'a/vectors',
    'first-alias',
    'mock/model',
    'z-alias',
  ];

  it('200 with the active models and their aliases, in the order of their characters', async () => {
    const document = await list(bench.key.secret);
    assert.deepEqual(
      ids(document).filter((id) => id !== 'a/claude'),
      ALL,
    );
    const { object, has_more, first_id, last_id } = document;
    assert.deepEqual(
      { object, has_more, first_id, last_id },
      {
        object: 'list',
        has_more: false,
        first_id: 'B/capital',
        last_id: 'z-alias',
      },
    );
  });

  it("200 with the members of OpenAI's models and of Anthropic's in each", async () => {
    const { data } = await list(bench.key.secret);
    const { created, created_at, ...model } = data.find(({ id }) => id === 'first-alias') ?? none;
    assert.ok(Number.isSafeInteger(created));
    assert.equal(created_at, new Date(Number(created) * 1000).toISOString().replace('.000', ''));
    assert.deepEqual(model, {
      id: 'first-alias',
      object: 'model',
      owned_by: 'provider of a/first',
      type: 'model',
      display_name: 'first-alias',
      max_input_tokens: 200_000,
      max_tokens: 1_000,
      context_length: 200_000,
      endpoints: ['chat'],
      route: 'a/first',
    });
  });

  it('200 with the members that Codex needs, for what serves responses', async () => {
    const { models } = await list(bench.key.secret, '?client_version=0.169.0');
    const { base_instructions, ...model } = models.find(({ slug }) => slug === 'a/both') ?? none;
    assert.ok(typeof base_instructions === 'string' && base_instructions.length > 200);
    assert.deepEqual(model, {
      slug: 'a/both',
      display_name: 'a/both',
      description: null,
      supported_reasoning_levels: [],
      shell_type: 'shell_command',
      visibility: 'list',
      supported_in_api: true,
      priority: 0,
      support_verbosity: false,
      supports_parallel_tool_calls: true,
      truncation_policy: { mode: 'tokens', limit: 10_000 },
      experimental_supported_tools: [],
    });
    assert.ok(!models.some(({ slug }) => slug === 'a/vectors'));
  });

  it('200 a page at a time, forwards and backwards', async () => {
    const { secret } = await issueKey(bench.database, {
      allowedModels: ['a/first', 'a/both', 'a-first', 'mock/model'],
    });
    const known = ['a-first', 'a/both', 'a/first', 'first-alias', 'mock/model', 'z-alias'];
    for (const [query, expected, hasMore] of [
      ['?limit=2', known.slice(0, 2), true],
      ['?limit=6', known, false],
      ['?limit=5000', known, false],
      ['?limit=', known, false],
      ['?limit=2&after_id=a%2Fboth', known.slice(2, 4), true],
      ['?limit=2&after_id=first-alias', known.slice(4), false],
      // A cursor whose model is gone still has its place.
      ['?after_id=b', known.slice(3), false],
      ['?limit=2&before_id=mock/model', known.slice(2, 4), true],
      ['?limit=3&before_id=first-alias', known.slice(0, 3), false],
      ['?after_id=a-first&before_id=first-alias', known.slice(1, 3), false],
      ['?after_id=z-alias', [], false],
      ['?after_id=', known, false],
    ] as const) {
      const page = await list(secret, query);
      assert.deepEqual(ids(page), expected, query);
      assert.deepEqual(
        [page.has_more, page.first_id, page.last_id],
        [hasMore, expected[0] ?? null, expected.at(-1) ?? null],
        query,
      );
    }
  });

  it("200 through the SDK of Anthropic, page by page, and through OpenAI's", async () => {
    const { secret } = bench.key;
    const baseURL = `http://127.0.0.1:${bench.gateway.port}`;
    const anthropic = new Anthropic({ baseURL, apiKey: secret });
    const paged: string[] = [];
    for await (const { id } of anthropic.models.list({ limit: 2 })) paged.push(id);
    const all = ids(await list(secret));
    assert.deepEqual(paged, all);
    const openai = new OpenAI({ baseURL: `${baseURL}/v1`, apiKey: secret });
    const listed: string[] = [];
    for await (const { id } of openai.models.list()) listed.push(id);
    assert.deepEqual(listed, all);
    assert.equal((await openai.models.retrieve('a/first')).id, 'a/first');
    assert.equal((await anthropic.models.retrieve('first-alias')).display_name, 'first-alias');
  });

  for (const query of [
    '?limit=0',
    '?limit=-1',
    '?limit=ten',
    `?after_id=${'x'.repeat(201)}`,
    '?before_id=%00',
  ])
    it(`400 for ${query.slice(0, 20)}`, async () => {
      const response = await bench.gateway.fetch(`/v1/models${query}`, {
        headers: { 'x-api-key': bench.key.secret },
      });
      const param = /\?(\w+)/.exec(query)?.[1] ?? '';
      await assertError(response, {
        status: 400,
        code: 'invalid_request',
        type: 'invalid_request_error',
        param,
      });
    });

  it('200 with only those that the key may use, with their aliases', async () => {
    const key = await issueKey(bench.database, {
      allowedModels: ['mock/model', 'z/inactive', 'first-alias', 'none'],
    });
    assert.deepEqual(ids(await list(key.secret)), ['mock/model', 'z-alias']);
  });

  it('200 with 1,000 names at most, however many there are', async () => {
    await addRoute(bench.database, { id: 'many/names', endpoints: ['chat', 'responses'] });
    const { secret } = await issueKey(bench.database, { allowedModels: ['many/names'] });
    for (let n = 1; n <= 1_001; n += 1)
      await bench.database.run(insertAlias, { alias: `many-${n}`, routeId: 'many/names' });
    const first = await list(secret);
    assert.deepEqual([first.data.length, first.has_more], [1_000, true]);
    const rest = await list(secret, `?after_id=${first.last_id}`);
    assert.deepEqual([ids(rest), rest.has_more], [['many-999', 'many/names'], false]);
    const info = await bench.gateway.fetch('/v1/model/info', { headers: { 'x-api-key': secret } });
    assert.equal(((await info.json()) as ModelList).data.length, 1_000);
  });

  it("429 past the key's rate, which it shares with the other requests, and never a row in its log", async () => {
    const key = await issueKey(bench.database, { rateLimitRpm: 2 });
    await list(key.secret);
    bench.gateway.time.advance(10_500);
    const second = await bench.gateway.fetch('/v1/models', { headers: { 'x-api-key': key.secret } });
    assert.equal(second.status, 200);
    assert.deepEqual(rateHeadersOf(second), { limit: '2', remaining: '0', reset: '60s' });
    const third = await bench.gateway.fetch('/v1/models', { headers: { 'x-api-key': key.secret } });
    const refusal = { status: 429, code: 'rate_limit_exceeded', type: 'rate_limit_error' };
    await assertError(third, refusal);
    assert.equal(third.headers.get('retry-after'), '50');
    assert.equal(third.headers.get('retry-after-ms'), '49500');
    assert.equal(bench.gateway.journal.records.length, 0);
    await assertError(await bench.gateway.chat(key.secret), refusal);
    bench.gateway.time.advance(49_500);
    await list(key.secret);
  });

  it('401 without a key, and with one that expired', async () => {
    const authentication = { status: 401, type: 'authentication_error' };
    await assertError(await bench.gateway.fetch('/v1/models'), {
      ...authentication,
      code: 'invalid_api_key',
    });
    const { secret } = await issueKey(bench.database, { expiresIn: '-1 second' });
    const response = await bench.gateway.fetch('/v1/models', {
      headers: { authorization: `Bearer ${secret}` },
    });
    await assertError(response, { ...authentication, code: 'key_expired' });
  });
});
