import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createDatabaseAtStep } from '../testing/index.ts';
import { migratePostgres } from './migrate.ts';

describe('step 11, which adds limits to the catalogue', () => {
  it('sets the output limit that each shipped provider reads, and leaves routes unchanged', async () => {
    await using old = await createDatabaseAtStep(10);
    await old.query(`
      INSERT INTO providers (name, protocol, base_url) VALUES
        ('openai', 'openai', 'https://api.openai.com/v1'), ('mistral', 'openai', 'https://api.mistral.ai/v1'),
        ('deepseek', 'openai', 'https://api.deepseek.com'), ('local', 'openai', 'http://127.0.0.1:11434/v1'),
        ('demo', 'demo', NULL);
      INSERT INTO routes (id, provider, upstream_model, endpoints, input_micro_pkr_per_million,
        output_micro_pkr_per_million, cache_write_micro_pkr_per_million, cache_read_micro_pkr_per_million,
        byok_fee_millionths, max_output_tokens, timeout_ms)
      VALUES ('a/b', 'mistral', 'b', '{chat}', 1, 1, 1, 1, 0, 10, 1000)`);
    await migratePostgres(old.owner, { serviceMayLogIn: true });
    assert.deepEqual(
      await old.query('SELECT name, output_limit, deny, allow FROM providers ORDER BY name'),
      [
        ['deepseek', 'max_tokens'],
        ['demo', 'max_completion_tokens'],
        ['local', 'both'],
        ['mistral', 'max_tokens'],
        ['openai', 'max_completion_tokens'],
      ].map(([name, output_limit]) => ({ name, output_limit, deny: null, allow: [] })),
    );
    assert.deepEqual(
      await old.query('SELECT default_output_tokens, min_output_tokens, max_input_tokens, allow FROM routes'),
      [{ default_output_tokens: null, min_output_tokens: null, max_input_tokens: null, allow: [] }],
    );
  });
});

describe('step 15, which adds flags, aliases and prices', () => {
  it('keeps what a request on platform capacity costs, and gives shipped providers their flags', async () => {
    await using old = await createDatabaseAtStep(14);
    await old.query(`
      INSERT INTO providers (name, protocol, base_url) VALUES
        ('openai', 'openai', 'https://api.openai.com/v1'), ('mistral', 'openai', 'https://api.mistral.ai/v1'),
        ('deepseek', 'openai', 'https://api.deepseek.com'), ('demo', 'demo', NULL),
        ('google', 'openai', 'https://generativelanguage.googleapis.com/v1beta/openai');
      INSERT INTO routes (id, provider, upstream_model, endpoints, input_micro_pkr_per_million,
        output_micro_pkr_per_million, cache_write_micro_pkr_per_million, cache_read_micro_pkr_per_million,
        byok_fee_millionths, max_output_tokens, timeout_ms, is_builtin)
      SELECT id, split_part(id, '/', 1), 'm', '{chat}', 70, 560, cache_write, cache_read, 0, 10, 1000, id = 'demo/echo'
      FROM (VALUES ('openai/unstated', 0, 0), ('openai/stated', 87, 7), ('openai/half', 0, 7), ('demo/echo', 0, 0))
        AS r (id, cache_write, cache_read)`);
    await migratePostgres(old.owner, { serviceMayLogIn: true });
    const rows = await old.query(`
      SELECT id, array_to_string(endpoints, ',') AS endpoints, price_tiers, price_per_call,
             cache_write_micro_pkr_per_million::integer AS write, cache_read_micro_pkr_per_million::integer AS read,
             cache_write_1h_micro_pkr_per_million::integer AS write_1h
      FROM routes JOIN route_targets ON route_id = id ORDER BY id`);
    assert.deepEqual(
      rows,
      [
        ['demo/echo', 0, 0],
        ['openai/half', 70, 7],
        ['openai/stated', 87, 7],
        ['openai/unstated', 70, 70],
      ].map(([id, write, read]) => ({
        ...{ id, endpoints: 'chat', price_tiers: [], price_per_call: {} },
        ...{ write, read, write_1h: write },
      })),
    );
    assert.deepEqual(await old.query('SELECT name, flags FROM providers ORDER BY name'), [
      { name: 'deepseek', flags: { keep: ['reasoning_content'] } },
      { name: 'demo', flags: {} },
      { name: 'google', flags: { keep: ['extra_content'] } },
      { name: 'mistral', flags: { streamUsage: 'never', strictFields: true } },
      { name: 'openai', flags: {} },
    ]);
    assert.deepEqual(await old.query('SELECT * FROM route_aliases'), []);
  });
});

describe('step 16, which moves targets and credentials into tables of their own', () => {
  it('makes one target of each route, and one credential of each provider that had a key', async () => {
    await using old = await createDatabaseAtStep(15);
    await old.query(`
      INSERT INTO providers (name, protocol, base_url, api_key_env) VALUES
        ('keyed', 'openai', 'https://api.openai.com/v1', 'OPENAI_API_KEY'), ('open', 'openai', 'http://127.0.0.1:1/v1', NULL);
      INSERT INTO routes (id, provider, upstream_model, endpoints, input_micro_pkr_per_million,
        output_micro_pkr_per_million, cache_write_micro_pkr_per_million, cache_write_1h_micro_pkr_per_million,
        cache_read_micro_pkr_per_million, price_tiers, price_per_call, byok_fee_millionths, max_output_tokens, timeout_ms, is_active)
      VALUES ('a/b', 'keyed', 'b', '{chat}', 1, 2, 3, 4, 5, '[{"abovePromptTokens": 6}]', '{"web_search": 7}', 8, 10, 1000, false),
             ('c/d', 'open', 'd', '{chat}', 1, 1, 1, 1, 1, '[]', '{}', 0, 10, 1000, true)`);
    await migratePostgres(old.owner, { serviceMayLogIn: true });
    const moved = { position: 0, weight: 1 };
    assert.deepEqual(
      await old.query(`
        SELECT route_id, provider, upstream_model, array_to_string(ARRAY[input_micro_pkr_per_million,
          output_micro_pkr_per_million, cache_write_micro_pkr_per_million, cache_write_1h_micro_pkr_per_million,
          cache_read_micro_pkr_per_million, byok_fee_millionths], ',') AS prices,
          price_tiers, price_per_call, position, weight, priority
        FROM route_targets ORDER BY route_id`),
      [
        {
          ...{ route_id: 'a/b', provider: 'keyed', upstream_model: 'b', prices: '1,2,3,4,5,8' },
          ...{
            price_tiers: [{ abovePromptTokens: 6 }],
            price_per_call: { web_search: 7 },
            ...moved,
            priority: 1,
          },
        },
        {
          ...{ route_id: 'c/d', provider: 'open', upstream_model: 'd', prices: '1,1,1,1,1,0' },
          ...{ price_tiers: [], price_per_call: {}, ...moved, priority: 1 },
        },
      ],
    );
    assert.deepEqual(
      await old.query('SELECT provider, name, position, api_key_env, weight FROM provider_credentials'),
      [{ provider: 'keyed', name: 'default', api_key_env: 'OPENAI_API_KEY', ...moved }],
    );
    assert.deepEqual(
      await old.query(
        'SELECT id, is_active, max_attempts, attempt_timeout_ms, queue_ms FROM routes ORDER BY id',
      ),
      [
        { id: 'a/b', is_active: false, max_attempts: 3, attempt_timeout_ms: null, queue_ms: 0 },
        { id: 'c/d', is_active: true, max_attempts: 3, attempt_timeout_ms: null, queue_ms: 0 },
      ],
    );
  });
});
