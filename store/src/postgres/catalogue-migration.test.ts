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
