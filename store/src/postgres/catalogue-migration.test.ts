import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { testServers } from '../testing/test-servers.ts';
import { openDatabase } from './database.ts';
import { migratePostgres, readMigrations } from './migrate.ts';

describe('the step that adds limits to the catalogue', () => {
  it('gives the providers that were shipped the name of the cap that they read, and leaves routes as they are', async () => {
    const server = (await testServers()).postgres;
    const name = `m_${randomUUID().replaceAll('-', '')}`;
    await using admin = openDatabase({ ...server, database: 'postgres' }, { poolSize: 1 });
    const client = await admin.connect();
    try {
      await client.query(`CREATE DATABASE ${name}`);
      await using database = openDatabase({ ...server, database: name }, { poolSize: 1 });
      const steps = await readMigrations();
      const before = steps.slice(
        0,
        steps.findIndex((step) => step.name === 'catalogue-limits'),
      );
      await migratePostgres(database, { migrations: before, serviceMayLogIn: true });
      const owner = await database.connect();
      try {
        await owner.query(`
          INSERT INTO providers (name, protocol, base_url) VALUES
            ('openai', 'openai', 'https://api.openai.com/v1'), ('mistral', 'openai', 'https://api.mistral.ai/v1'),
            ('deepseek', 'openai', 'https://api.deepseek.com'), ('local', 'openai', 'http://127.0.0.1:11434/v1'),
            ('demo', 'demo', NULL);
          INSERT INTO routes (id, provider, upstream_model, endpoints, input_micro_pkr_per_million,
            output_micro_pkr_per_million, cache_write_micro_pkr_per_million, cache_read_micro_pkr_per_million,
            byok_fee_millionths, max_output_tokens, timeout_ms)
          VALUES ('a/b', 'mistral', 'b', '{chat}', 1, 1, 1, 1, 0, 10, 1000)`);
        await migratePostgres(database, { serviceMayLogIn: true });
        const providers = await owner.query(
          'SELECT name, output_limit, deny, allow FROM providers ORDER BY name',
        );
        assert.deepEqual(
          providers.rows.map((row) => [row.name, row.output_limit, row.deny, row.allow]),
          [
            ['deepseek', 'max_tokens', null, []],
            ['demo', 'max_completion_tokens', null, []],
            ['local', 'both', null, []],
            ['mistral', 'max_tokens', null, []],
            ['openai', 'max_completion_tokens', null, []],
          ],
        );
        const routes = await owner.query(
          'SELECT default_output_tokens, min_output_tokens, max_input_tokens, allow FROM routes',
        );
        assert.deepEqual(routes.rows, [
          { default_output_tokens: null, min_output_tokens: null, max_input_tokens: null, allow: [] },
        ]);
      } finally {
        await owner.end();
      }
    } finally {
      await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await client.end();
    }
  });
});
