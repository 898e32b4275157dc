import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { keys } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { recordsFrom } from '../activity/index.ts';
import { examineLedger } from '../ledger/index.ts';
import { holdOrganization, waitingForLocks } from '../testing/hold-organization.ts';
import { type KeyAccount, signUpForKeys } from '../testing/key-account.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';
import { DepositError, deposit } from './create-organization.ts';
import { withdraw } from './withdraw.ts';

const PKR = 1_000_000n;

describe('withdraw', () => {
  let api: TestApi;
  before(async () => {
    // Each account begins with 1000 PKR.
    api = await startTestApi();
  });
  after(() => api[Symbol.asyncDispose]());

  const take = ({ organizationId }: KeyAccount, pkr: bigint, note: string | null = null) =>
    api.owner.transaction((tx) =>
      withdraw(tx, { organizationId, amountMicroPkr: pkr * PKR, note }, recordsFrom('192.0.2.1')),
    );
  const mint = async ({ client, projectId }: KeyAccount, pkr: number) =>
    client.call(keys.createKey, {
      body: { project_id: projectId, name: 'k', credit_limit_cents: pkr * 1_000_000 },
    });
  const balance = async ({ organizationId }: KeyAccount) => {
    const [row] = await runSql<{ deposited: bigint; sum: bigint; entries: bigint }>(api.owner)`
      SELECT deposited_micro_pkr AS deposited,
             (SELECT sum(amount_micro_pkr) FROM deposits d WHERE d.organization_id = b.organization_id)::bigint AS sum,
             (SELECT count(*) FROM activity_events e
              WHERE e.organization_id = b.organization_id AND action = 'budget.deposited') AS entries
      FROM balances b WHERE organization_id = ${organizationId}`;
    assert.equal(row?.deposited, row?.sum);
    return [Number((row?.deposited ?? 0n) / PKR), Number(row?.entries)];
  };

  it('writes a counter-entry, in the deposits and in the activity log, and the ledger adds up', async () => {
    const account = await signUpForKeys(api);
    assert.equal(await take(account, 400n, 'typed twice'), 600n * PKR);
    assert.deepEqual(await balance(account), [600, 2]);
    assert.deepEqual(
      await runSql(api.owner)`
        SELECT d.amount_micro_pkr, d.note, e.target, e.actor_user_id, e.source_ip
        FROM deposits d JOIN activity_events e USING (organization_id)
        WHERE organization_id = ${account.organizationId} AND d.amount_micro_pkr < 0 AND e.target LIKE '-%'`,
      [
        {
          amountMicroPkr: -400n * PKR,
          note: 'typed twice',
          target: '-400.00 PKR',
          actorUserId: null,
          sourceIp: '192.0.2.1',
        },
      ],
    );
    assert.equal(await take(account, 600n), 0n);
    assert.deepEqual((await examineLedger(api.owner)).findings, []);
  });

  it('leaves what is spent and held, and names the figures', async () => {
    const account = await signUpForKeys(api);
    await runSql(api.owner)`
      UPDATE balances SET spent_micro_pkr = 250000000, held_micro_pkr = 50000001 WHERE organization_id = ${account.organizationId}`;
    await assert.rejects(take(account, 700n), {
      name: 'DepositError',
      message:
        'at most 699.999999 PKR can be withdrawn: 1000.00 PKR are deposited, 250.00 PKR spent, 50.000001 PKR held by requests in flight, and the limits of the keys add up to 0.00 PKR',
    });
    assert.deepEqual(await balance(account), [1000, 1]);
    assert.equal(await take(account, 699n), 301n * PKR);
    await runSql(api.owner)`
      UPDATE balances SET spent_micro_pkr = 400000000, held_micro_pkr = 0 WHERE organization_id = ${account.organizationId}`;
    await assert.rejects(take(account, 1n), /^DepositError: at most 0\.00 PKR can be withdrawn/);
    await runSql(api.owner)`
      UPDATE balances SET spent_micro_pkr = 0 WHERE organization_id = ${account.organizationId}`;
  });

  it('leaves what the limits of the keys add up to, expired ones too and revoked ones not', async () => {
    const account = await signUpForKeys(api);
    await mint(account, 300);
    const { id } = await mint(account, 200);
    await runSql(api.owner)`UPDATE api_keys SET expires_at = '2020-01-01' WHERE id = ${id}`;
    const revoked = await mint(account, 900);
    await account.client.call(keys.revokeKey, { params: { key_id: revoked.id } });
    await assert.rejects(take(account, 501n), /at most 500\.00 PKR .* the keys add up to 500\.00 PKR$/);
    assert.equal(await take(account, 500n), 500n * PKR);
    await assert.rejects(take(account, 1n), DepositError);
  });

  it('waits for what is being spent, and counts it', async () => {
    const account = await signUpForKeys(api);
    const gateway = await api.owner.connect();
    await gateway.query('BEGIN');
    await gateway.query('UPDATE balances SET spent_micro_pkr = 600000000 WHERE organization_id = $1', [
      account.organizationId,
    ]);
    const refused = assert.rejects(take(account, 500n), /at most 400\.00 PKR can be withdrawn/);
    await waitingForLocks(api.owner, 1);
    await gateway.query('COMMIT');
    await gateway.end();
    await refused;
    await runSql(api.owner)`
      UPDATE balances SET spent_micro_pkr = 0 WHERE organization_id = ${account.organizationId}`;
  });

  it('never lets a limit and a withdrawal have the same credit', async () => {
    const account = await signUpForKeys(api);
    const { id } = await mint(account, 1);
    for (let round = 0; round < 10; round += 1) {
      const [limited, taken] = await Promise.all([
        account.client.copy().send(keys.updateKey, {
          params: { key_id: id },
          body: { rate_limit_rpm: 60, credit_limit_pkr: 600 },
        }),
        take(account, 500n).then(
          () => true,
          () => false,
        ),
      ]);
      assert.notEqual(limited.status === 200, taken, `${limited.text} and ${taken}`);
      const [deposited = 0] = await balance(account);
      assert.equal(deposited, taken ? 500 : 1000);
      // Back to where it began.
      if (taken) {
        await api.owner.transaction((tx) =>
          deposit(
            tx,
            { organizationId: account.organizationId, amountMicroPkr: 500n * PKR, note: null },
            recordsFrom(''),
          ),
        );
      }
      await account.client.call(keys.updateKey, {
        params: { key_id: id },
        body: { rate_limit_rpm: 60, credit_limit_pkr: 1 },
      });
    }
  });

  it('takes no more than there is, of many that come at once', async () => {
    const account = await signUpForKeys(api);
    const held = await holdOrganization(api.owner, account.organizationId);
    const all = Promise.allSettled(Array.from({ length: 6 }, () => take(account, 300n)));
    await held.release();
    const taken = (await all).filter(({ status }) => status === 'fulfilled');
    assert.equal(taken.length, 3);
    assert.deepEqual(await balance(account), [100, 4]);
  });

  it("is not for the service's login, which may only add", async () => {
    const { organizationId } = await signUpForKeys(api);
    await assert.rejects(
      api.database.transaction((tx) =>
        withdraw(tx, { organizationId, amountMicroPkr: 1n, note: null }, recordsFrom('')),
      ),
      { code: '42501' },
    );
    await assert.rejects(
      runSql(api.owner)`
        INSERT INTO deposits (organization_id, amount_micro_pkr) VALUES (${organizationId}, 0)`,
      { code: '23514' },
    );
  });
});
