import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { keys, organization } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { duringTests } from '../testing/during-tests.ts';
import { type KeyAccount, mintKey, signUpForKeys } from '../testing/key-account.ts';
import { startTestApi } from '../testing/test-api.ts';

describe('GET /budget', () => {
  const api = duringTests(() => startTestApi());

  /** Holds an amount for a request of the key, as the gateway does, and returns the request's id. */
  async function hold({ organizationId }: KeyAccount, keyId: string, amountMicroPkr: number) {
    const requestId = randomUUID();
    await runSql(api.database)`
      SELECT decision FROM admit('{}', '{}', '{}', ARRAY[${requestId}::uuid], ARRAY[${organizationId}::uuid], ARRAY[${keyId}::uuid],
        ARRAY[${amountMicroPkr}::bigint], ARRAY[${amountMicroPkr}::bigint], '{false}', '{60000}', '{}', '{}', '{}', '{}', NULL)`;
    return requestId;
  }

  const finish = ({ organizationId }: KeyAccount, requestId: string, costMicroPkr: number) =>
    runSql(api.database)`
      SELECT decision FROM admit(ARRAY[${requestId}::uuid], ARRAY[${organizationId}::uuid], ARRAY[${costMicroPkr}::bigint],
        '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', NULL)`;

  const settled = async ({ organizationId }: KeyAccount, keyId: string, costMicroPkr: number) => {
    await runSql(api.owner)`
      UPDATE api_keys SET spent_micro_pkr = spent_micro_pkr + ${costMicroPkr} WHERE id = ${keyId}`;
    await runSql(api.owner)`
      UPDATE balances SET spent_micro_pkr = spent_micro_pkr + ${costMicroPkr}
      WHERE organization_id = ${organizationId}`;
  };

  it('200 with the deposit and no keys for a new organisation', async () => {
    const { client } = await api.signUp();
    assert.deepEqual(await client.call(keys.getBudget), {
      deposited_pkr: 1000,
      spent_pkr: 0,
      held_pkr: 0,
      available_pkr: 1000,
      key_limits_pkr: 0,
      headroom_pkr: 1000,
      revoked_keys: { spent_pkr: 0, held_pkr: 0 },
      total: 0,
      limit: 50,
      offset: 0,
      keys: [],
    });
  });

  it('200 with finished requests as spent, settled or not, and requests in flight as held', async () => {
    const account = await signUpForKeys(api);
    const unlimited = await mintKey(account, { name: 'unlimited' });
    const limited = await mintKey(account, { name: 'limited', credit_limit_cents: 250_000_001 });
    const revoked = await mintKey(account, { name: 'revoked', credit_limit_cents: 700_000_000 });
    await settled(account, unlimited.id, 1);
    await settled(account, revoked.id, 20_000_000);
    const finished = await hold(account, limited.id, 9_000_000);
    await hold(account, limited.id, 3_500_000);
    await hold(account, revoked.id, 4_000_000);
    await finish(account, finished, 2_000_003);
    await account.client.call(keys.revokeKey, { params: { key_id: revoked.id } });

    const { projects } = await account.client.call(organization.listProjects);
    const project = { id: account.projectId, name: projects[0]?.name };
    assert.deepEqual(await account.client.call(keys.getBudget), {
      deposited_pkr: 1000,
      spent_pkr: 22.000004,
      held_pkr: 7.5,
      available_pkr: 970.499996,
      key_limits_pkr: 250.000001,
      headroom_pkr: 749.999999,
      revoked_keys: { spent_pkr: 20, held_pkr: 4 },
      total: 2,
      limit: 50,
      offset: 0,
      keys: [
        {
          id: limited.id,
          name: 'limited',
          key_prefix: limited.key_prefix,
          project,
          unlimited: false,
          credit_limit_pkr: 250.000001,
          spent_pkr: 2.000003,
          held_pkr: 3.5,
        },
        {
          id: unlimited.id,
          name: 'unlimited',
          key_prefix: unlimited.key_prefix,
          project,
          unlimited: true,
          credit_limit_pkr: null,
          spent_pkr: 0.000001,
          held_pkr: 0,
        },
      ],
    });
  });

  it('200 with negative available credit where providers billed more, and headroom never below 0', async () => {
    const account = await signUpForKeys(api);
    const key = await mintKey(account, { credit_limit_cents: 1_000_000_001 });
    await settled(account, key.id, 1_000_000_002);
    const budget = await account.client.call(keys.getBudget);
    assert.deepEqual([budget.available_pkr, budget.headroom_pkr], [-0.000002, 0]);
  });

  it('200 with pages whose keys and the revoked keys add up to the organisation', async () => {
    const account = await signUpForKeys(api);
    const minted = [];
    for (let n = 0; n < 7; n += 1) minted.push(await mintKey(account, { name: `key ${n}` }));
    for (const [n, { id }] of minted.entries()) {
      await settled(account, id, 10 ** n);
      await hold(account, id, 3 * 10 ** n);
    }
    await account.client.call(keys.revokeKey, { params: { key_id: minted[4]?.id ?? '' } });

    const listed = [];
    for (const offset of [0, 3, 6, 60]) {
      const budget = await account.client.call(keys.getBudget, { query: { limit: 3, offset } });
      assert.deepEqual([budget.total, budget.limit, budget.offset], [6, 3, offset]);
      assert.deepEqual([budget.spent_pkr, budget.held_pkr], [1.111111, 3.333333]);
      assert.deepEqual(budget.revoked_keys, { spent_pkr: 0.01, held_pkr: 0.03 });
      listed.push(...budget.keys);
    }
    assert.deepEqual(
      listed.map(({ name }) => name),
      ['key 6', 'key 5', 'key 3', 'key 2', 'key 1', 'key 0'],
    );
    const micros = (amounts: number[]) => amounts.reduce((sum, pkr) => sum + Math.round(pkr * 1e6), 0);
    assert.equal(micros([0.01, ...listed.map(({ spent_pkr }) => spent_pkr)]), 1_111_111);
    assert.equal(micros([0.03, ...listed.map(({ held_pkr }) => held_pkr)]), 3_333_333);
  });

  it('200 with a limit lowered to 200, and 400 for a page that is none', async () => {
    const { client } = await api.signUp();
    assert.equal((await client.call(keys.getBudget, { query: { limit: 100_000 } })).limit, 200);
    for (const query of [{ limit: '0' }, { offset: '-1' }, { limit: '1.5' }]) {
      assert.equal((await client.send(keys.getBudget, { query })).status, 400);
    }
  });

  it('200 for a member, of the own organisation only', async () => {
    const [account, stranger] = [await signUpForKeys(api), await signUpForKeys(api)];
    const key = await mintKey(stranger);
    await settled(stranger, key.id, 5);
    const { client } = await api.signUp({ organization: account.organizationName });
    const budget = await client.call(keys.getBudget);
    assert.deepEqual([budget.spent_pkr, budget.total], [0, 0]);
  });

  it('200 with figures of one moment while requests run', async () => {
    const account = await signUpForKeys(api);
    const [first, second] = [await mintKey(account), await mintKey(account)];
    let isOver = false;
    let rounds = 0;
    const running = (async () => {
      for (; !isOver && rounds < 5_000; rounds += 1) {
        const { id } = rounds % 2 === 0 ? first : second;
        await finish(account, await hold(account, id, 700), 300);
      }
    })();
    for (let read = 0; read < 30; read += 1) {
      const budget = await account.client.call(keys.getBudget);
      // A figure of another moment would be missing here, or be counted twice.
      assert.deepEqual(budget.revoked_keys, { spent_pkr: 0, held_pkr: 0 });
      const micro = (pkr: number) => Math.round(pkr * 1e6);
      assert.equal(
        budget.keys.reduce((sum, { spent_pkr, held_pkr }) => sum + micro(spent_pkr) + micro(held_pkr), 0),
        micro(budget.spent_pkr) + micro(budget.held_pkr),
      );
    }
    isOver = true;
    await running;
    assert.ok(rounds > 5, `only ${rounds} requests ran`);
  });
});
