import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runSql, useTestDatabase } from '../testing/index.ts';

// Gateways presume facts that they have read before, and compare these numbers to know whether they still hold.

const test = await useTestDatabase();

const catalogueVersion = async () => {
  const rows = await runSql<{ version: bigint }>(test.database)`SELECT version FROM catalogue_version`;
  return rows[0]?.version ?? assert.fail('catalogue_version is empty');
};

const addOrganization = async () => {
  const [row] = await runSql<{ id: string }>(test.owner)`
    INSERT INTO organizations (name, name_key) SELECT id, id FROM (SELECT gen_random_uuid()::text) AS n (id) RETURNING id`;
  return row?.id ?? assert.fail('no organisation');
};

const vaultRevision = async (organizationId: string) => {
  const rows = await runSql<{ revision: bigint }>(test.database)`
    SELECT revision FROM vault_revisions WHERE organization_id = ${organizationId}`;
  return rows[0]?.revision ?? 0n;
};

describe('catalogue_version', () => {
  it('is raised by every change of every table of the catalogue', async () => {
    await runSql(test.owner)`INSERT INTO providers (name, protocol) VALUES ('p', 'openai')`;
    const sql = runSql(test.owner);
    for (const change of [
      () => sql`UPDATE providers SET base_url = 'http://127.0.0.1:1' WHERE name = 'p'`,
      () =>
        sql`INSERT INTO provider_credentials (provider, name, position, api_key_env) VALUES ('p', 'c', 0, 'A_KEY')`,
      () => sql`UPDATE provider_credentials SET weight = 2`,
      () => sql`DELETE FROM provider_credentials`,
      () =>
        sql`INSERT INTO routes (id, endpoints, max_output_tokens, timeout_ms) VALUES ('r', '{chat}', 1, 1)`,
      () => sql`UPDATE routes SET queue_ms = 1`,
      () => sql`
        INSERT INTO route_targets (route_id, position, provider, upstream_model, input_micro_pkr_per_million,
          output_micro_pkr_per_million, cache_write_micro_pkr_per_million, cache_write_1h_micro_pkr_per_million,
          cache_read_micro_pkr_per_million, byok_fee_millionths)
        VALUES ('r', 0, 'p', 'm', 1, 1, 1, 1, 1, 0)`,
      () => sql`UPDATE route_targets SET priority = 2`,
      () => sql`DELETE FROM route_targets`,
      () => sql`INSERT INTO route_aliases (alias, route_id) VALUES ('x', 'r')`,
      () => sql`DELETE FROM route_aliases`,
    ]) {
      const before = await catalogueVersion();
      await change();
      assert.equal(await catalogueVersion(), before + 1n, String(change));
    }
  });

  it('is raised once by a transaction of many statements', async () => {
    const before = await catalogueVersion();
    await test.database.transaction(async (tx) => {
      for (const name of ['a', 'b', 'c'])
        await runSql(tx)`
          INSERT INTO providers (name, protocol) VALUES (${name}, 'openai')
          ON CONFLICT (name) DO UPDATE SET protocol = excluded.protocol`;
    });
    assert.equal(await catalogueVersion(), before + 1n);
  });

  it('is raised by a change after one that a savepoint took back', async () => {
    const before = await catalogueVersion();
    const client = await test.owner.connect();
    try {
      await client.query('BEGIN');
      await client.query('SAVEPOINT s');
      await client.query(`INSERT INTO providers (name, protocol) VALUES ('taken back', 'openai')`);
      await client.query('ROLLBACK TO s');
      await client.query(`INSERT INTO providers (name, protocol) VALUES ('kept', 'openai')`);
      await client.query('COMMIT');
    } finally {
      await client.end();
    }
    assert.equal(await catalogueVersion(), before + 1n);
  });
});

describe('vault_revisions', () => {
  const store = (organizationId: string, provider: string) => runSql(test.owner)`
    INSERT INTO vault_keys (organization_id, provider, version, sealed_key, wrapped_key, master_key_id)
    VALUES (${organizationId}, ${provider}, 1, '', '', ${MASTER_KEY_ID})
    ON CONFLICT (organization_id, provider) DO UPDATE SET version = vault_keys.version + 1`;

  it("is raised by every change of an organisation's keys, and of no other's", async () => {
    await runSql(
      test.owner,
    )`INSERT INTO vault_master_keys (id, canary, is_current) VALUES (${MASTER_KEY_ID}, '', true)`;
    await runSql(
      test.owner,
    )`INSERT INTO providers (name, protocol) VALUES ('one', 'openai'), ('two', 'openai')`;
    const [organizationId, other] = [await addOrganization(), await addOrganization()];
    await store(other, 'one');
    const changes: [revision: bigint, change: () => Promise<unknown>][] = [
      [1n, () => store(organizationId, 'one')],
      [2n, () => store(organizationId, 'one')],
      [3n, () => store(organizationId, 'two')],
      // Two rows of one statement, as a rotation writes them.
      [
        4n,
        () =>
          runSql(
            test.owner,
          )`UPDATE vault_keys SET wrapped_key = 'x' WHERE organization_id = ${organizationId}`,
      ],
      [5n, () => runSql(test.owner)`DELETE FROM vault_keys WHERE organization_id = ${organizationId}`],
    ];
    for (const [revision, change] of changes) {
      await change();
      assert.equal(await vaultRevision(organizationId), revision);
    }
    assert.equal(await vaultRevision(other), 1n);
  });

  it('is raised when the fallback of a project is switched', async () => {
    const organizationId = await addOrganization();
    await runSql(
      test.owner,
    )`INSERT INTO projects (organization_id, name) VALUES (${organizationId}, 'Default')`;
    const toggle = (isOn: boolean) => runSql(test.owner)`
      UPDATE projects SET byok_fallback = ${isOn} WHERE organization_id = ${organizationId}`;
    assert.equal(await vaultRevision(organizationId), 0n);
    await toggle(true);
    assert.equal(await vaultRevision(organizationId), 1n);
    await toggle(true);
    assert.equal(await vaultRevision(organizationId), 1n);
    await toggle(false);
    assert.equal(await vaultRevision(organizationId), 2n);
  });

  it('lets the service store keys, and not switch the fallback', async () => {
    const organizationId = await addOrganization();
    await runSql(test.database)`
      INSERT INTO vault_keys (organization_id, provider, version, sealed_key, wrapped_key, master_key_id)
      VALUES (${organizationId}, 'one', 1, '', '', ${MASTER_KEY_ID})`;
    assert.equal(await vaultRevision(organizationId), 1n);
    await assert.rejects(
      runSql(test.database)`UPDATE projects SET byok_fallback = true`,
      /permission denied/,
    );
  });
});

const MASTER_KEY_ID = '0123456789abcdef0123456789abcdef';
