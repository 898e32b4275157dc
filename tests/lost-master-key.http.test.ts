import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { alerts, vault } from '@gatehouse/contract';
import { startTestApi } from '@gatehouse/control-plane/testing';
import { openVault } from '@gatehouse/control-plane/vault';
import { fixedKeyRing, MasterKey } from '@gatehouse/store';
import { runSql } from '@gatehouse/store/testing';

it('what docs/vault.md says of a lost master key empties the vault, which then takes another', async () => {
  const page = await readFile(join(import.meta.dirname, '../docs/vault.md'), 'utf8');
  const [, statements = ''] = /## A lost master key.*?```sql\n(.*?)```/s.exec(page) ?? [];
  assert.match(statements, /vault_master_keys/);
  await using api = await startTestApi();
  const { client } = await api.signUp();
  await runSql(api.owner)`
    WITH p AS (INSERT INTO providers (name, protocol) VALUES ('anyone', 'openai') RETURNING name)
    INSERT INTO provider_credentials (provider, name, position, api_key_env) SELECT name, 'default', 0, 'A_KEY' FROM p`;
  await client.call(vault.setVaultKey, { body: { provider: 'anyone', api_key: 'sk-0123456789abcdef' } });
  await client.call(alerts.createAlertChannel, { body: { kind: 'webhook', url: 'https://a.example.com/' } });
  const another = MasterKey.generate();
  await assert.rejects(openVault(api.database, fixedKeyRing([another]), another));
  const owner = await api.owner.connect();
  await owner.query(statements);
  await owner.end();
  await openVault(api.database, fixedKeyRing([another]), another);
  assert.deepEqual((await client.call(vault.listVaultKeys)).keys, []);
  assert.deepEqual((await client.call(alerts.listAlertChannels)).channels, []);
});
