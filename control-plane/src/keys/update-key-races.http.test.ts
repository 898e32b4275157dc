import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auth, keys } from '@gatehouse/contract';
import { holdOrganization, waitingForLocks } from '../testing/hold-organization.ts';
import { eventsOf, type KeyAccount, signUpForKeys } from '../testing/key-account.ts';
import { sql } from '../testing/sql.ts';
import { startTestApi, TEST_PASSWORD, type TestApi } from '../testing/test-api.ts';

describe('PATCH /keys/{key_id} at the same time as', () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api[Symbol.asyncDispose]());

  const mint = ({ client, projectId }: KeyAccount) =>
    client.call(keys.createKey, { body: { project_id: projectId, name: 'k' } });
  const update = ({ client }: KeyAccount, key_id: string, credit_limit_pkr: number) =>
    client.copy().send(keys.updateKey, {
      params: { key_id },
      body: { rate_limit_rpm: 60, credit_limit_pkr },
    });

  /** Spends on the key and keeps its row, as a settlement does until it commits. */
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

  it('a settlement: 400 naming the spend that came while it waited for the row', async () => {
    const account = await signUpForKeys(api);
    const { id } = await mint(account);
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
    const { id } = await mint(account);
    const settlement = await settling(id, 6_000_000);
    const pending = update(account, id, 5);
    await waitingForLocks(api.database, 1);
    await settlement.end('ROLLBACK');
    assert.equal((await pending).status, 200);
  });

  it('requests of the other keys: they do not wait', async () => {
    const account = await signUpForKeys(api);
    const [key, other] = [await mint(account), await mint(account)];
    const settlement = await settling(key.id, 1);
    const pending = update(account, key.id, 5);
    await waitingForLocks(api.database, 1);
    await (await settling(other.id, 1)).end('COMMIT');
    await settlement.end('COMMIT');
    assert.equal((await pending).status, 200);
  });

  it('other changes of the organisation: 200 once those are done, and nobody else waits', async () => {
    const [account, neighbour] = [await signUpForKeys(api), await signUpForKeys(api)];
    const [key, theirs] = [await mint(account), await mint(neighbour)];
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

  it('a deposit: 200 as soon as it is there', async () => {
    const account = await signUpForKeys(api);
    const { id } = await mint(account);
    assert.equal((await update(account, id, 1_001)).status, 400);
    await sql(
      api.owner,
      'UPDATE balances SET deposited_micro_pkr = deposited_micro_pkr + 1000000 WHERE organization_id = $1',
      [account.organizationId],
    );
    assert.equal((await update(account, id, 1_001)).status, 200);
  });

  it('a deadlock with others: 200 after it was tried again', async () => {
    const account = await signUpForKeys(api);
    const { id } = await mint(account);
    // Takes the key and then the organisation, the other way round. The one that came to wait last is not the one
    // that PostgreSQL ends: it is the first to look after its deadlock_timeout.
    const client = await api.owner.connect();
    await client.query(`SET deadlock_timeout = '60s'`);
    await client.query('BEGIN');
    await client.query('SELECT FROM api_keys WHERE id = $1 FOR UPDATE', [id]);
    const pending = update(account, id, 5);
    await waitingForLocks(api.database, 1);
    // It comes back only because the change has given up what it held.
    await client.query('SELECT FROM organizations WHERE id = $1 FOR UPDATE', [account.organizationId]);
    await client.query('COMMIT');
    await client.end();
    assert.equal((await pending).status, 200);
    assert.equal((await eventsOf(account, 'api_key.updated')).length, 1);
  });
});
