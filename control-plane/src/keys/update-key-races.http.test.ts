import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auth, keys } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { holdOrganization, waitingForLocks } from '../testing/hold-organization.ts';
import { eventsOf, type KeyAccount, mintKey, signUpForKeys } from '../testing/key-account.ts';
import { startTestApi, TEST_PASSWORD, type TestApi } from '../testing/test-api.ts';

describe('PATCH /keys/{key_id} concurrent with', () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api?.[Symbol.asyncDispose]());

  const update = ({ client }: KeyAccount, key_id: string, credit_limit_pkr: number) =>
    client.copy().send(keys.updateKey, {
      params: { key_id },
      body: { rate_limit_rpm: 60, credit_limit_pkr },
    });

  /** Spends on the key and locks its row, like a settlement before its commit. */
  async function settling(keyId: string, microPkr: number) {
    const client = await api.owner.connect();
    await client.query('BEGIN');
    await client.query('UPDATE api_keys SET spent_micro_pkr = spent_micro_pkr + $2 WHERE id = $1', [
      keyId,
      microPkr,
    ]);
    return {
      async end(command: 'COMMIT' | 'ROLLBACK') {
        await client.query(command);
        await client.end();
      },
    };
  }

  it('a settlement: 400 naming the spend that was committed while it waited for the row', async () => {
    const account = await signUpForKeys(api);
    const { id } = await mintKey(account);
    const settlement = await settling(id, 6_000_000);
    const pending = update(account, id, 5);
    await waitingForLocks(api.database, 1);
    await settlement.end('COMMIT');
    const { status, text } = await pending;
    assert.equal(status, 400);
    assert.deepEqual(JSON.parse(text), {
      error: 'Credit limit cannot be below the 6.00 PKR this key has already spent.',
    });
    assert.deepEqual(await eventsOf(account, 'api_key.updated'), []);
  });

  it('a settlement that fails: 200', async () => {
    const account = await signUpForKeys(api);
    const { id } = await mintKey(account);
    const settlement = await settling(id, 6_000_000);
    const pending = update(account, id, 5);
    await waitingForLocks(api.database, 1);
    await settlement.end('ROLLBACK');
    assert.equal((await pending).status, 200);
  });

  it('requests of the other keys: they do not wait', async () => {
    const account = await signUpForKeys(api);
    const [key, other] = [await mintKey(account), await mintKey(account)];
    const settlement = await settling(key.id, 1);
    const pending = update(account, key.id, 5);
    await waitingForLocks(api.database, 1);
    await (await settling(other.id, 1)).end('COMMIT');
    await settlement.end('COMMIT');
    assert.equal((await pending).status, 200);
  });

  it('other changes of the organisation: 200 after those, and no other request waits', async () => {
    const [account, neighbour] = [await signUpForKeys(api), await signUpForKeys(api)];
    const [key, theirs] = [await mintKey(account), await mintKey(neighbour)];
    const held = await holdOrganization(api.database, account.organizationId);
    // More than the API has connections.
    const pending = Promise.all(Array.from({ length: 32 }, (_, n) => update(account, key.id, n + 1)));
    await waitingForLocks(api.database, 1);
    assert.equal((await update(neighbour, theirs.id, 5)).status, 200);
    await account.client.call(keys.listKeys);
    await api.anonymous().call(auth.login, { body: { email: account.email, password: TEST_PASSWORD } });
    await held.release();
    for (const { status } of await pending) assert.equal(status, 200);
    assert.equal((await eventsOf(account, 'api_key.updated')).length, 32);
  });

  it('a deposit: 200 once it is committed', async () => {
    const account = await signUpForKeys(api);
    const { id } = await mintKey(account);
    assert.equal((await update(account, id, 1_001)).status, 400);
    await runSql(api.owner)`
      UPDATE balances SET deposited_micro_pkr = deposited_micro_pkr + 1000000 WHERE organization_id = ${account.organizationId}`;
    assert.equal((await update(account, id, 1_001)).status, 200);
  });

  it('a deadlock: 200 after a retry', async () => {
    const account = await signUpForKeys(api);
    const { id } = await mintKey(account);
    // Locks the key and then the organisation, against the usual order. PostgreSQL ends the transaction whose
    // deadlock_timeout fires first, which is then the update's.
    const client = await api.owner.connect();
    await client.query(`SET deadlock_timeout = '60s'`);
    await client.query('BEGIN');
    await client.query('SELECT FROM api_keys WHERE id = $1 FOR UPDATE', [id]);
    const pending = update(account, id, 5);
    await waitingForLocks(api.database, 1);
    // Succeeds only because the update has released its lock.
    await client.query('SELECT FROM organizations WHERE id = $1 FOR UPDATE', [account.organizationId]);
    await client.query('COMMIT');
    await client.end();
    assert.equal((await pending).status, 200);
    assert.equal((await eventsOf(account, 'api_key.updated')).length, 1);
  });
});
