import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { keys, spendLimits } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { duringTests } from '../testing/during-tests.ts';
import { waitingForLocks } from '../testing/hold-organization.ts';
import {
  eventsOf,
  issueNames,
  type KeyAccount,
  mintKey,
  sendText,
  signUpForKeys,
} from '../testing/key-account.ts';
import { startTestApi } from '../testing/test-api.ts';

const OF_ALL = { scope: { kind: 'organization' }, window: 'day', limit_pkr: 10 };

describe('spend limits', () => {
  const api = duringTests(startTestApi);
  let owner: KeyAccount;
  before(async () => {
    owner = await signUpForKeys(api);
  });

  const create = ({ client }: Pick<KeyAccount, 'client'>, body: object) =>
    client.call(spendLimits.createSpendLimit, { body });
  const refused = (body: unknown, status = 400) =>
    owner.client.refused(spendLimits.createSpendLimit, status, { body });
  const list = async ({ client }: Pick<KeyAccount, 'client'>) =>
    (await client.call(spendLimits.listSpendLimits)).limits;

  it('201 with its defaults and its open window, listed to every member, newest first', async () => {
    const account = await signUpForKeys(api);
    const made = await create(account, { ...OF_ALL, limit_pkr: 0.000001 });
    const { id, window_started_at, window_ends_at, created_at, updated_at, ...others } = made;
    assert.deepEqual(others, {
      scope: { kind: 'organization' },
      ...{ window: 'day', time_zone: 'UTC', limit_pkr: 0.000001, mode: 'refuse', alert_at: [80, 100] },
      ...{ spent_pkr: 0, held_pkr: 0, remaining_pkr: 0.000001 },
      created_by: { id: account.userId, email: account.email },
    });
    const day = 86_400_000;
    assert.equal(Date.parse(window_started_at) % day, 0);
    assert.equal(Date.parse(window_ends_at ?? ''), Date.parse(window_started_at) + day);
    assert.ok(Date.parse(window_started_at) <= Date.now() && created_at === updated_at);
    const second = await create(account, {
      ...{
        scope: { kind: 'metadata', name: 'Team', value: null },
        window: 'lifetime',
        limit_pkr: 0,
        mode: 'alert',
      },
      ...{ alert_at: [100, 5, 5], time_zone: 'asia/karachi' },
    });
    assert.deepEqual(
      [second.scope, second.time_zone, second.alert_at, second.window_ends_at, second.values],
      [{ kind: 'metadata', name: 'team', value: null }, 'Asia/Karachi', [5, 100], null, []],
    );
    const member = await api.signUp({ organization: account.organizationName });
    assert.deepEqual(await list(member), [second, made]);
    assert.deepEqual(
      (await eventsOf(account, 'spend_limit.created')).map(({ target }) => target),
      ['metadata team = each value: 0.00 PKR in all, alert only', 'organization: 0.000001 PKR a day (UTC)'],
    );
    assert.deepEqual(await list(owner), []);
  });

  it('403 to a member who makes, changes or deletes one', async () => {
    const member = await api.signUp({ organization: owner.organizationName });
    const { id } = await create(owner, OF_ALL);
    const params = { limit_id: id };
    await member.client.refused(spendLimits.createSpendLimit, 403, { body: OF_ALL });
    await member.client.refused(spendLimits.updateSpendLimit, 403, { params, body: { limit_pkr: 1 } });
    await member.client.refused(spendLimits.deleteSpendLimit, 403, { params });
    await owner.client.call(spendLimits.deleteSpendLimit, { params });
  });

  it('names its project, key and member, and 404 alike for those of others, unknown ones and a revoked key', async () => {
    const account = await signUpForKeys(api);
    const key = await mintKey(account);
    const scopes = [
      ['project', account.projectId, 'project Default'],
      ['key', key.id, `key ${key.key_prefix}`],
      ['member', account.userId, `member ${account.email}`],
    ] as const;
    for (const [kind, id, words] of scopes) {
      const body = { ...OF_ALL, scope: { kind, id }, window: 'month', time_zone: 'America/New_York' };
      const { id: limitId } = await create(account, body);
      const events = await eventsOf(account, 'spend_limit.created');
      assert.equal(events[0]?.target, `${words}: 10.00 PKR a month (America/New_York)`);
      assert.deepEqual((await list(account))[0]?.scope, { kind, id });
      for (const other of [id, randomUUID(), 'x'])
        await owner.client.refused(spendLimits.createSpendLimit, 404, {
          body: { ...body, scope: { kind, id: other } },
        });
      const params = { limit_id: limitId };
      await owner.client.refused(spendLimits.updateSpendLimit, 404, { params, body: { limit_pkr: 1 } });
      await owner.client.refused(spendLimits.deleteSpendLimit, 404, { params });
    }
    await account.client.call(keys.revokeKey, { params: { key_id: key.id } });
    await account.client.refused(spendLimits.createSpendLimit, 404, {
      body: { ...OF_ALL, scope: { kind: 'key', id: key.id } },
    });
    // The limit of a key outlives it, and can be told and deleted.
    for (const { id } of await list(account))
      await account.client.call(spendLimits.deleteSpendLimit, { params: { limit_id: id } });
    assert.equal((await eventsOf(account, 'spend_limit.deleted')).length, 3);
    assert.deepEqual(await list(account), []);
  });

  it('400 that names what is missing or wrong', async () => {
    for (const [fields, names] of [
      [{ scope: undefined }, ['scope']],
      [{ window: 'year' }, ['window']],
      [{ limit_pkr: undefined }, ['limit_pkr']],
      [{ limit_pkr: null }, ['limit_pkr']],
      [{ limit_pkr: -1 }, ['limit_pkr']],
      [{ limit_pkr: '1' }, ['limit_pkr']],
      [{ limit_pkr: 1e300 }, ['limit_pkr']],
      [{ limit_pkr: 0.0000001 }, ['limit_pkr']],
      [{ time_zone: 'Mars/Olympus' }, ['time_zone']],
      [{ time_zone: '+05:00' }, ['time_zone']],
      [{ time_zone: 'UTC; DROP TABLE x' }, ['time_zone']],
      [{ mode: 'block' }, ['mode']],
      [{ alert_at: [0] }, ['alert_at']],
      [{ alert_at: [101] }, ['alert_at']],
      [{ alert_at: [50.5] }, ['alert_at']],
      [{ alert_at: 80 }, ['alert_at']],
      [{ scope: { kind: 'planet' } }, ['scope']],
      [{ scope: { kind: 'project' } }, ['scope']],
      [{ scope: { kind: 'metadata', value: 'x' } }, ['scope']],
      [{ scope: { kind: 'metadata', name: 'team' } }, ['scope']],
      [{ scope: { kind: 'metadata', name: 'a b', value: 'x' } }, ['scope']],
      [{ scope: { kind: 'metadata', name: 'a'.repeat(65), value: 'x' } }, ['scope']],
      [{ scope: { kind: 'metadata', name: 'a', value: 'é'.repeat(513) } }, ['scope']],
      [{ scope: { kind: 'metadata', name: 'a', value: '\u0000' } }, ['scope']],
    ] as const)
      assert.deepEqual(issueNames(await refused({ ...OF_ALL, ...fields })), names, JSON.stringify(fields));
    const twice = '{"scope":{"kind":"organization"},"window":"day","limit_pkr":1,"limit_pkr":2}';
    assert.equal((await sendText(owner, 'POST', '/spend-limits', twice)).status, 400);
  });

  it('is changed in part, exactly, and 400 for nothing', async () => {
    const { id, ...before } = await create(owner, OF_ALL);
    const change = (text: string) => sendText(owner, 'PATCH', `/spend-limits/${id}`, text);
    assert.equal((await change('{}')).status, 400);
    for (const [text, expected] of [
      ['{"limit_pkr":0}', { limit_pkr: 0, remaining_pkr: 0 }],
      [
        '{"limit_pkr":9007199254.740991}',
        { limit_pkr: Number('9007199254.740991'), remaining_pkr: Number('9007199254.740991') },
      ],
      ['{"mode":"alert"}', { mode: 'alert' }],
      ['{"alert_at":[]}', { alert_at: [] }],
    ] as const) {
      const { status, body } = await change(text);
      assert.equal(status, 200);
      assert.deepEqual({ ...body, ...expected }, body);
    }
    const [limit] = await list(owner);
    const { updated_at: updatedAt, ...after } = limit ?? assert.fail('there is a limit');
    assert.ok(updatedAt > before.updated_at);
    const { limit_pkr, remaining_pkr, mode, alert_at, updated_at: _, ...same } = before;
    assert.deepEqual({ ...after, ...same }, after);
    const [stored] = await runSql<{ amount: bigint }>(api.database)`
      SELECT limit_micro_pkr AS amount FROM spend_limits WHERE id = ${id}`;
    assert.equal(stored?.amount, 9_007_199_254_740_991n);
    assert.equal(
      (await eventsOf(owner, 'spend_limit.updated'))[0]?.target,
      'organization: 9007199254.740991 PKR a day (UTC), alert only',
    );
    const gone = await owner.client.call(spendLimits.deleteSpendLimit, { params: { limit_id: id } });
    assert.match(gone.message, /^The spend limit is deleted: organization: /);
    await owner.client.refused(spendLimits.deleteSpendLimit, 404, { params: { limit_id: id } });
  });

  it('409 for the 201st, also while another node makes the 200th, and another organisation does not wait', async () => {
    const account = await signUpForKeys(api);
    const { organizationId } = account;
    const insert = (count: number) => `
      WITH b AS (UPDATE balances SET spend_limits = spend_limits + ${count} WHERE organization_id = $1)
      INSERT INTO spend_limits (organization_id, scope_kind, time_window, time_zone, limit_micro_pkr, mode, alert_at)
      SELECT $1, 'organization', 'day', 'UTC', n, 'refuse', '{}' FROM generate_series(1, ${count}) AS n`;
    const node = await api.owner.connect();
    await node.query(insert(199), [organizationId]);
    await node.query('BEGIN');
    await node.query(insert(1), [organizationId]);
    const waiting = account.client.refused(spendLimits.createSpendLimit, 409, { body: OF_ALL });
    await waitingForLocks(api.owner, 1);
    await create(owner, OF_ALL);
    await node.query('COMMIT');
    await node.end();
    assert.match(String((await waiting)['error']), /200 spend limits/);
    const limits = await list(account);
    assert.equal(limits.length, 200);
    const [{ id } = { id: '' }] = limits;
    await account.client.call(spendLimits.deleteSpendLimit, { params: { limit_id: id } });
    await create(account, OF_ALL);
  });

  it('shows the figures of its open window, and of the value that spent most', async () => {
    const account = await signUpForKeys(api);
    const one = await create(account, { ...OF_ALL, window: 'month' });
    const each = await create(account, { ...OF_ALL, scope: { kind: 'metadata', name: 'user', value: null } });
    await runSql(api.owner)`
      INSERT INTO spend_windows (limit_id, value, started_at, ends_at, spent_micro_pkr, held_micro_pkr)
      VALUES (${one.id}::uuid, '', ${one.window_started_at}, ${one.window_ends_at}, 4000000, 7000000),
             (${one.id}, '', '2020-01-01', '2020-02-01', 99, 99),
             (${each.id}, '', ${each.window_started_at}, ${each.window_ends_at}, 1000000, 0),
             (${each.id}, '=', ${each.window_started_at}, ${each.window_ends_at}, 2000000, 0),
             (${each.id}, '=ada', ${each.window_started_at}, ${each.window_ends_at}, 3000000, 500000)`;
    const [ofEach, ofAll] = await list(account);
    assert.deepEqual(ofAll, { ...one, spent_pkr: 4, held_pkr: 7, remaining_pkr: 0 });
    const ada = { spent_pkr: 3, held_pkr: 0.5, remaining_pkr: 6.5 };
    assert.deepEqual(ofEach, {
      ...each,
      ...ada,
      values: [
        { value: 'ada', ...ada },
        { value: '', spent_pkr: 2, held_pkr: 0, remaining_pkr: 8 },
        { value: null, spent_pkr: 1, held_pkr: 0, remaining_pkr: 9 },
      ],
    });
  });
});
