import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { alerts, auth, keys, spendLimits, vault } from '@gatehouse/contract';
import { rawSql, runSql } from '@gatehouse/store/testing';
import { recordsFrom, verifyActivity } from '../../activity/index.ts';
import { examineLedger } from '../../ledger/index.ts';
import { addRoute } from '../../testing/add-route.ts';
import { duringTests } from '../../testing/during-tests.ts';
import { mintKey, signUpForKeys } from '../../testing/key-account.ts';
import { startTestApi } from '../../testing/test-api.ts';
import { findOrganization, listOrganizations } from '../index.ts';
import { deleteOrganization } from './delete-organization.ts';

const operator = recordsFrom('127.0.0.1');

describe('deleting an organisation', () => {
  const api = duringTests(startTestApi);

  it('leaves nobody and nothing that works, its log and its books, and its name to others', async () => {
    await addRoute(api.database, 'a/one', { provider: 'openai' });
    await runSql(
      api.owner,
    )`INSERT INTO provider_credentials (provider, name, position, api_key_env) VALUES ('openai', 'default', 0, 'A_KEY')`;
    const owner = await signUpForKeys(api);
    const { organizationId: id, organizationName: name } = owner;
    const member = await api.signUp({ organization: name });
    const [active] = [await mintKey(owner), await mintKey(owner)];
    await owner.client.call(keys.rotateKey, { params: { key_id: active.id }, body: {} });
    await owner.client.call(spendLimits.createSpendLimit, {
      body: { scope: { kind: 'organization' }, window: 'day', limit_pkr: 5 },
    });
    await owner.client.call(alerts.createAlertChannel, {
      body: { kind: 'webhook', url: 'https://hooks.example.com/alerts' },
    });
    await owner.client.call(vault.setVaultKey, {
      body: { provider: 'openai', api_key: 'sk-0123456789abcdef' },
    });
    const bystander = await api.signUp();

    const done = await deleteOrganization(api.owner, { id, name }, operator);
    assert.deepEqual(done, {
      revokedKeys: 2,
      deletedAccounts: 2,
      withdrawnMicroPkr: 1_000_000_000n,
      heldMicroPkr: 0n,
    });
    assert.deepEqual(
      await runSql(api.owner)`SELECT FROM api_keys WHERE organization_id = ${id} AND revoked_at IS NULL`,
      [],
    );
    for (const { client } of [owner, member]) {
      await client.refused(auth.me, 401);
      await client.refused(auth.refresh, 401);
    }
    await bystander.client.call(auth.me);
    for (const table of ['users', 'vault_keys', 'previous_secrets', 'alert_channels', 'spend_limits'])
      assert.deepEqual(await left(table, id), [{ rows: 0n }], table);
    assert.equal(await findOrganization(api.owner, id), undefined);
    assert.equal(await findOrganization(api.owner, name), undefined);
    assert.ok(!(await listOrganizations(api.owner)).some((one) => one.id === id));
    assert.equal(await deleteOrganization(api.owner, { id, name }, operator), undefined);

    const [log] = await Array.fromAsync(verifyActivity(api.owner, { organizationId: id }));
    assert.equal(log?.broken, null);
    const events = await runSql<{ action: string; target: string; actor: string | null }>(api.owner)`
      SELECT action, target, actor_user_id AS actor FROM activity_events WHERE organization_id = ${id}
      ORDER BY sequence DESC LIMIT 2`;
    assert.deepEqual(events, [
      { action: 'org.deleted', target: name, actor: null },
      { action: 'budget.deposited', target: '-1000.00 PKR', actor: null },
    ]);
    assert.deepEqual((await examineLedger(api.owner)).findings, []);

    const successor = await api.signUp({ email: owner.email, organization: name });
    assert.notEqual(successor.organizationId, id);
    const { user } = await successor.client.call(auth.me);
    assert.equal(user.role, 'owner');
  });

  it('keeps what requests in flight hold, until they are settled', async () => {
    const owner = await signUpForKeys(api);
    const { organizationId: id, organizationName: name } = owner;
    const { id: keyId } = await mintKey(owner);
    await runSql(api.owner)`
      INSERT INTO holds (request_id, key_id, organization_id, amount_micro_pkr, deadline)
      VALUES (gen_random_uuid(), ${keyId}, ${id}, 400000000, clock_timestamp() + interval '1 hour')`;
    await runSql(api.owner)`UPDATE balances SET held_micro_pkr = 400000000 WHERE organization_id = ${id}`;
    await runSql(api.owner)`UPDATE api_keys SET held_micro_pkr = 400000000 WHERE id = ${keyId}`;
    const done = await deleteOrganization(api.owner, { id, name }, operator);
    assert.deepEqual([done?.withdrawnMicroPkr, done?.heldMicroPkr], [600_000_000n, 400_000_000n]);
  });

  it('is done once of many at once', async () => {
    const { organizationId: id, organizationName: name } = await api.signUp();
    const outcomes = await Promise.all(
      Array.from({ length: 5 }, () => deleteOrganization(api.owner, { id, name }, operator)),
    );
    assert.equal(outcomes.filter((one) => one !== undefined).length, 1);
  });

  /** How many rows of the organisation a table has. */
  const left = (table: string, organizationId: string) =>
    runSql(
      api.owner,
    )`SELECT count(*) AS rows FROM ${rawSql(table)} WHERE organization_id = ${organizationId}`;
});
