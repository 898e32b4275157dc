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
      FROM routes ORDER BY id`);
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
