import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { vault } from '@gatehouse/contract';
import {
  type Database,
  fixedKeyRing,
  type KeyRing,
  MasterKey,
  openRecord,
  type SealedRecord,
} from '@gatehouse/store';
import { createTestDatabase, runSql, TEST_MASTER_KEY } from '@gatehouse/store/testing';
import { type SignedUp, startTestApi, type TestApi } from '../testing/test-api.ts';
import { openVault, rotateVault, VaultError } from './index.ts';

const state = async (database: Database) => ({
  keys: await runSql(database)`SELECT id, canary, is_current FROM vault_master_keys ORDER BY id`,
  records: await runSql(database)`SELECT * FROM vault_keys ORDER BY organization_id, provider`,
});

const vaultError = (pattern: RegExp) => (error: unknown) => {
  assert.ok(error instanceof VaultError);
  assert.match(error.message, pattern);
  return true;
};

describe('openVault', () => {
  it('stores the canary of exactly one of several concurrent keys, and rejects the others', async () => {
    await using test = await createTestDatabase();
    const keys = Array.from({ length: 8 }, () => MasterKey.generate());
    const outcomes = await Promise.allSettled(
      keys.map((key) => openVault(test.database, fixedKeyRing([key]), key)),
    );
    const [row, ...others] = await runSql<{ id: string }>(test.database)`SELECT id FROM vault_master_keys`;
    assert.deepEqual(others, []);
    for (const [index, outcome] of outcomes.entries())
      assert.equal(outcome.status === 'fulfilled', keys[index]?.id === row?.id);
  });

  it('rejects a wrong key, naming the ids of both keys, and changes nothing', async () => {
    await using test = await createTestDatabase();
    await openVault(test.database, fixedKeyRing([TEST_MASTER_KEY]), TEST_MASTER_KEY);
    const before = await state(test.owner);
    const wrong = MasterKey.generate();
    await assert.rejects(openVault(test.database, fixedKeyRing([wrong]), wrong), (error) => {
      vaultError(/^the master key is not the one that the vault is encrypted under: /)(error);
      assert.ok((error as Error).message.includes(wrong.id));
      assert.ok((error as Error).message.includes(TEST_MASTER_KEY.id));
      assert.ok(!(error as Error).message.includes(wrong.reveal()));
      return true;
    });
    assert.deepEqual(await state(test.owner), before);
  });

  it('rejects a canary that was tampered with', async () => {
    await using test = await createTestDatabase();
    const ring = fixedKeyRing([TEST_MASTER_KEY]);
    await openVault(test.database, ring, TEST_MASTER_KEY);
    await runSql(test.owner)`
      UPDATE vault_master_keys SET canary = set_byte(canary, 20, get_byte(canary, 20) # 1)`;
    await assert.rejects(openVault(test.database, ring, TEST_MASTER_KEY), vaultError(/does not open/));
  });
});

describe('rotateVault', () => {
  const PROVIDERS = ['anthropic', 'mistral', 'openai'];
  let api: TestApi;
  const keys = [TEST_MASTER_KEY];
  const ring: KeyRing = fixedKeyRing(keys);
  const accounts: SignedUp[] = [];
  let current = TEST_MASTER_KEY;
  before(async () => {
    api = await startTestApi({}, { keyRing: ring });
    await runSql(api.database)`
      WITH p AS (INSERT INTO providers (name, protocol) SELECT unnest(${PROVIDERS}::text[]), 'openai' RETURNING name)
      INSERT INTO provider_credentials (provider, name, position, api_key_env) SELECT name, 'default', 0, 'A_KEY' FROM p`;
    for (let index = 0; index < 4; index += 1) accounts.push(await api.signUp());
    for (const account of accounts) for (const provider of PROVIDERS) await set(account, provider);
  });
  after(() => api?.[Symbol.asyncDispose]());

  const secretFor = ({ organizationId }: { readonly organizationId: string }, provider: string) =>
    `sk-${organizationId}-${provider}`;
  const set = (account: SignedUp, provider: string) =>
    account.client.call(vault.setVaultKey, { body: { provider, api_key: secretFor(account, provider) } });
  const records = () =>
    runSql<SealedRecord>(api.database)`
      SELECT organization_id AS "organizationId", provider, version, wrapped_key AS "wrappedKey",
      sealed_key AS "sealedKey", master_key_id AS "masterKeyId" FROM vault_keys`;
  const nextKey = () => {
    const next = MasterKey.generate();
    keys.push(next);
    return next;
  };
  const assertAllUnder = async (key: MasterKey) => {
    const all = await records();
    assert.equal(all.length, accounts.length * PROVIDERS.length);
    for (const record of all) assert.equal(openRecord(key, record), secretFor(record, record.provider));
    assert.deepEqual(await runSql(api.database)`SELECT id, is_current FROM vault_master_keys`, [
      { id: key.id, isCurrent: true },
    ]);
    assert.deepEqual(await runSql(api.database)`SELECT DISTINCT master_key_id AS id FROM vault_wraps`, [
      { id: key.id },
    ]);
    await openVault(api.database, fixedKeyRing([key]), key);
    current = key;
  };

  it('moves every record to the new key, in batches, and deletes the old key', async () => {
    const newKey = nextKey();
    const progress: number[] = [];
    const rotation = await rotateVault({
      database: api.owner,
      keyRing: ring,
      newKey,
      batchSize: 5,
      onProgress: (rewrapped) => progress.push(rewrapped),
    });
    assert.deepEqual(rotation, { masterKeyId: newKey.id, rewrapped: 12, records: 12, skipped: [] });
    assert.deepEqual(progress, [5, 10, 12]);
    await assertAllUnder(newKey);
    const again = await rotateVault({ database: api.owner, keyRing: ring, newKey });
    assert.equal(again.rewrapped, 0);
    await assertAllUnder(newKey);
  });

  it('continues after an interruption, with keys that were stored meanwhile', async () => {
    const newKey = nextKey();
    const interruption = new Error('interrupted');
    const interrupted = rotateVault({
      database: api.owner,
      keyRing: ring,
      newKey,
      batchSize: 2,
      onProgress: (rewrapped) => {
        if (rewrapped >= 4) throw interruption;
      },
    });
    await assert.rejects(interrupted, interruption);
    const [account] = accounts;
    assert.ok(account);
    await account.client.call(vault.revokeVaultKey, { params: { provider: 'openai' } });
    await set(account, 'openai');
    const stored = (await records()).find(
      ({ organizationId, provider }) => organizationId === account.organizationId && provider === 'openai',
    );
    assert.equal(stored?.masterKeyId, newKey.id, 'a key stored meanwhile is under the new master key');
    for (const record of await records()) {
      const key = keys.find(({ id }) => id === record.masterKeyId);
      assert.ok(key);
      assert.equal(openRecord(key, record), secretFor(record, record.provider));
    }
    const rest = await rotateVault({ database: api.owner, keyRing: ring, newKey });
    assert.ok(rest.rewrapped < 12);
    await assertAllUnder(newKey);
  });

  it('skips a record that does not open, reports it, and keeps the old key for it', async () => {
    const [account] = accounts;
    assert.ok(account);
    const old = current;
    await runSql(api.database)`
      UPDATE vault_keys SET sealed_key = set_byte(sealed_key, 15, get_byte(sealed_key, 15) # 1)
      WHERE organization_id = ${account.organizationId} AND provider = 'mistral'`;
    const newKey = nextKey();
    const rotation = await rotateVault({ database: api.owner, keyRing: ring, newKey, batchSize: 1 });
    assert.equal(rotation.rewrapped, 11);
    assert.deepEqual(rotation.skipped, [
      {
        organizationId: account.organizationId,
        provider: 'mistral',
        reason: 'it is not as it was sealed (the sealed key does not open)',
      },
    ]);
    const kept = await runSql<{ id: string }>(api.database)`
      SELECT id FROM vault_master_keys WHERE NOT is_current`;
    assert.deepEqual(kept, [{ id: old.id }]);
    assert.equal((await account.client.call(vault.listVaultKeys)).keys.length, 3, 'it is listed');
    await set(account, 'mistral');
    await rotateVault({ database: api.owner, keyRing: ring, newKey });
    await assertAllUnder(newKey);
  });

  it('rejects a rotation without the current key, and changes nothing', async () => {
    const before = await state(api.owner);
    const newKey = MasterKey.generate();
    await assert.rejects(
      rotateVault({ database: api.owner, keyRing: fixedKeyRing([newKey]), newKey }),
      vaultError(/nothing was changed$/),
    );
    assert.deepEqual(await state(api.owner), before);
  });

  it('is not permitted to the role of the service', async () => {
    const before = await state(api.owner);
    const newKey = MasterKey.generate();
    await assert.rejects(
      rotateVault({ database: api.database, keyRing: fixedKeyRing([current, newKey]), newKey }),
      { code: '42501' },
    );
    assert.deepEqual(await state(api.owner), before);
  });

  it('loses no concurrent change: every key stored while it runs is under the new master key', async () => {
    for (let round = 0; round < 3; round += 1) {
      const newKey = nextKey();
      let isDone = false;
      const changes = accounts.map(async (account) => {
        while (!isDone) {
          for (const provider of PROVIDERS) {
            await account.client.call(vault.revokeVaultKey, { params: { provider } });
            await set(account, provider);
          }
        }
      });
      await rotateVault({ database: api.owner, keyRing: ring, newKey, batchSize: 1 });
      isDone = true;
      await Promise.all(changes);
      await assertAllUnder(newKey);
    }
  });
});
