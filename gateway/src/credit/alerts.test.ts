import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OrganizationId } from '@gatehouse/contract';
import { runSql, useTestDatabase } from '@gatehouse/store/testing';
import { settle } from '../journal/settle.ts';
import { admit } from '../testing/admit.ts';
import { untilLockWait } from '../testing/lock-wait.ts';
import { addLimit } from '../testing/spend-limits.ts';
import { type IssuedKey, issueKey } from '../testing/test-gateway.ts';
import { type AdmissionFields, request } from './admission.fixture.ts';

const { database, owner } = await useTestDatabase();

const addChannel = (organizationId: OrganizationId) =>
  runSql(database)`
    INSERT INTO alert_channels (organization_id, kind, destination) VALUES (${organizationId}, 'email', 'a@example.com')`;

/** A key of an organisation that has a channel. */
const watchedKey = async ({ depositedMicroPkr = 0n, ...options }: Parameters<typeof issueKey>[1] = {}) => {
  const key = await issueKey(database, options);
  if (depositedMicroPkr > 0n)
    await runSql(database)`
      UPDATE balances SET deposited_micro_pkr = ${depositedMicroPkr} WHERE organization_id = ${key.organizationId}`;
  await addChannel(key.organizationId);
  return key;
};

interface Written {
  readonly type: string;
  readonly percent: number | null;
  readonly spent: string | null;
  readonly value: string | null;
}

const writtenFor = ({ organizationId }: IssuedKey) => runSql<Written>(database)`
    SELECT type, (data ->> 'percent')::integer AS percent, data ->> 'spentMicroPkr' AS spent, data ->> 'metadataValue' AS value
    FROM alert_deliveries WHERE organization_id = ${organizationId} ORDER BY created_at, (data ->> 'percent')::integer`;

/** The types of the alerts that were written, with their thresholds. */
const toldOf = async (key: IssuedKey) =>
  (await writtenFor(key)).map(({ type, percent }) => `${type} ${percent}`);

const THRESHOLD = 'spend_limit.threshold_reached';
const REACHED = 'spend_limit.reached';

const ask = async (key: IssuedKey, fields: AdmissionFields) => {
  const [decision] = await admit(database, key.organizationId, [request(key.id, fields)]);
  return decision?.kind;
};

/** Admits and finishes a request of this cost, and settles it. */
const spend = async (key: IssuedKey, microPkr: bigint, fields: AdmissionFields = {}) => {
  const { organizationId, id: keyId } = key;
  const wanted = request(keyId, { least: microPkr, ...fields });
  const [decision] = await admit(database, organizationId, [wanted]);
  assert.ok(decision?.kind === 'admitted');
  const { requestId } = wanted;
  await admit(database, organizationId, [], [{ requestId, costMicroPkr: microPkr }]);
  await settle(database, [{ requestId, organizationId, keyId, costMicroPkr: microPkr }]);
};

describe('an alert of a spend limit', () => {
  it('is written once for each threshold of a window, in the transaction that passes it', async () => {
    const key = await watchedKey();
    await addLimit(database, key.organizationId, { microPkr: 1000n, alertAt: [50, 80, 100] });
    await spend(key, 499n);
    assert.deepEqual(await toldOf(key), []);
    await spend(key, 1n);
    assert.deepEqual(await toldOf(key), [`${THRESHOLD} 50`]);
    await spend(key, 299n);
    assert.deepEqual(await toldOf(key), [`${THRESHOLD} 50`]);
    await spend(key, 201n);
    assert.deepEqual(await toldOf(key), [`${THRESHOLD} 50`, `${THRESHOLD} 80`, `${REACHED} 100`]);
    assert.equal(await ask(key, { least: 1n }), 'spend_limit_reached');
    assert.equal((await writtenFor(key)).length, 3);
  });

  it('is written when the record of a request is settled that was never told as finished', async () => {
    const key = await watchedKey();
    await addLimit(database, key.organizationId, { microPkr: 10n, alertAt: [80] });
    const { organizationId, id: keyId } = key;
    const wanted = request(keyId, { least: 9n });
    await admit(database, organizationId, [wanted]);
    assert.deepEqual(await toldOf(key), []);
    await settle(database, [{ requestId: wanted.requestId, organizationId, keyId, costMicroPkr: 9n }]);
    assert.deepEqual(await toldOf(key), [`${THRESHOLD} 80`]);
  });

  it('of the limit itself is sent whatever alert_at says, once: by the first refusal or by what is spent', async () => {
    const key = await watchedKey();
    await addLimit(database, key.organizationId, { microPkr: 100n });
    await spend(key, 60n);
    assert.equal(await ask(key, { least: 41n }), 'spend_limit_reached');
    assert.equal(await ask(key, { least: 42n }), 'spend_limit_reached');
    await spend(key, 40n);
    assert.equal(await ask(key, { least: 1n }), 'spend_limit_reached');
    const [told, ...others] = await writtenFor(key);
    assert.deepEqual([told?.type, told?.spent, others], [REACHED, '60', []]);
  });

  it('is not written where only requests in flight stand in the way', async () => {
    const key = await watchedKey();
    await addLimit(database, key.organizationId, { microPkr: 100n });
    assert.equal(await ask(key, { least: 60n }), 'admitted');
    assert.equal(await ask(key, { least: 60n }), 'credit_held');
    assert.deepEqual(await toldOf(key), []);
  });

  it('of 0 comes with the first refusal, and of a limit that only alerts with the spend', async () => {
    const stopped = await watchedKey();
    await addLimit(database, stopped.organizationId, { microPkr: 0n, alertAt: [80] });
    assert.equal(await ask(stopped, {}), 'spend_limit_reached');
    assert.deepEqual(await toldOf(stopped), [`${REACHED} 100`]);
    const alerting = await watchedKey();
    await addLimit(database, alerting.organizationId, { microPkr: 5n, mode: 'alert', alertAt: [80, 100] });
    await spend(alerting, 50n);
    await spend(alerting, 50n);
    assert.deepEqual(await toldOf(alerting), [`${THRESHOLD} 80`, `${REACHED} 100`]);
  });

  it('tells each value of a label apart, and each window', async () => {
    const key = await watchedKey();
    const limit = { kind: 'metadata', name: 'team', value: null, microPkr: 10n } as const;
    const id = await addLimit(database, key.organizationId, { ...limit, window: 'day' });
    const team = (value: string) => ({ labels: new Map([['team', value]]) });
    await spend(key, 10n, team('red'));
    await spend(key, 10n, team('blue'));
    await spend(key, 9n, team('green'));
    assert.deepEqual((await writtenFor(key)).map(({ value }) => value).sort(), ['blue', 'red']);
    await runSql(database)`
      UPDATE spend_windows SET started_at = started_at - interval '1 day', ends_at = ends_at - interval '1 day'
      WHERE limit_id = ${id}`;
    await spend(key, 10n, team('red'));
    assert.deepEqual((await writtenFor(key)).map(({ value }) => value).sort(), ['blue', 'red', 'red']);
  });

  it('goes to each channel, and has an id by its cause: written again it is the same', async () => {
    const key = await watchedKey();
    await addChannel(key.organizationId);
    await addLimit(database, key.organizationId, { microPkr: 10n });
    await spend(key, 10n);
    const ids = () => runSql<{ id: string }>(database)`
      SELECT id FROM alert_deliveries WHERE organization_id = ${key.organizationId} ORDER BY id`;
    const before = await ids();
    assert.equal(before.length, 2);
    // As after a crash of the database that lost the window's last change.
    await runSql(database)`
      UPDATE spend_windows SET spent_micro_pkr = 0, alerted_percent = 0, next_alert_micro_pkr = 10
      WHERE limit_id IN (SELECT id FROM spend_limits WHERE organization_id = ${key.organizationId})`;
    await runSql(database)`
      UPDATE spend_windows SET spent_micro_pkr = 10
      WHERE limit_id IN (SELECT id FROM spend_limits WHERE organization_id = ${key.organizationId})`;
    assert.deepEqual(await ids(), before);
  });

  it('is nobody’s without a channel, and stops at 100 e-mails an hour', async () => {
    const silent = await issueKey(database);
    await addLimit(database, silent.organizationId, { microPkr: 10n });
    await spend(silent, 10n);
    assert.deepEqual(await toldOf(silent), []);
    const key = await watchedKey();
    await addLimit(database, key.organizationId, { kind: 'metadata', name: 'n', value: null, microPkr: 1n });
    for (let n = 0; n < 103; n += 1) await spend(key, 1n, { labels: new Map([['n', String(n)]]) });
    assert.equal((await writtenFor(key)).length, 100);
  });
});

describe('the outbox', () => {
  it('waits for a channel that is being deleted, and no request fails because of it', async () => {
    const key = await watchedKey();
    await addLimit(database, key.organizationId, { microPkr: 10n });
    const { organizationId, id: keyId } = key;
    const wanted = request(keyId, { least: 10n });
    await admit(database, organizationId, [wanted]);
    const deleting = await owner.connect();
    await deleting.query('BEGIN');
    await deleting.query('DELETE FROM alert_channels WHERE organization_id = $1', [organizationId]);
    const finished = admit(
      database,
      organizationId,
      [request(keyId)],
      [{ requestId: wanted.requestId, costMicroPkr: 10n }],
    );
    await untilLockWait(owner);
    await deleting.query('COMMIT');
    await deleting.end();
    assert.equal((await finished)[0]?.kind, 'spend_limit_reached');
    assert.deepEqual(await toldOf(key), []);
  });

  it('holds no more than 1,000 for a channel that takes none', async () => {
    const key = await watchedKey();
    await addLimit(database, key.organizationId, { microPkr: 10n, alertAt: [10, 20] });
    const fill = (rows: number) => runSql(database)`
      INSERT INTO alert_deliveries (channel_id, organization_id, type, data, created_at)
      SELECT c.id, c.organization_id, 'alert.test', '{}', clock_timestamp() - interval '2 hours'
      FROM alert_channels c, generate_series(1, ${rows}) WHERE c.organization_id = ${key.organizationId}`;
    await fill(999);
    await spend(key, 1n);
    await spend(key, 1n);
    const told = (await toldOf(key)).filter((type) => !type.startsWith('alert.test'));
    assert.deepEqual(told, [`${THRESHOLD} 10`]);
  });
});

describe('an alert of the balance', () => {
  const deposit = (key: IssuedKey, microPkr: bigint) =>
    runSql(database)`
      UPDATE balances SET deposited_micro_pkr = deposited_micro_pkr + ${microPkr} WHERE organization_id = ${key.organizationId}`;

  it('comes at 20 and at 5 per cent of the deposits, and again after a deposit that lifts it above', async () => {
    const key = await watchedKey({ depositedMicroPkr: 1000n });
    await spend(key, 799n);
    assert.deepEqual(await toldOf(key), []);
    await spend(key, 1n);
    assert.deepEqual(await toldOf(key), ['balance.low 20']);
    await spend(key, 150n);
    assert.deepEqual((await toldOf(key)).sort(), ['balance.low 20', 'balance.low 5']);
    // 10 per cent of 1,055 and then 53 per cent of 2,000 are left.
    await deposit(key, 55n);
    assert.equal((await writtenFor(key)).length, 2);
    await deposit(key, 945n);
    assert.equal((await writtenFor(key)).length, 2);
    await spend(key, 650n);
    assert.deepEqual((await toldOf(key)).sort(), ['balance.low 20', 'balance.low 20', 'balance.low 5']);
    const [{ remaining } = {}] = await runSql<{ remaining: string }>(database)`
      SELECT data ->> 'remainingMicroPkr' AS remaining FROM alert_deliveries
      WHERE organization_id = ${key.organizationId} ORDER BY created_at DESC LIMIT 1`;
    assert.equal(remaining, '400');
  });

  it('is not caused by what requests hold, and not by an account that never had a deposit', async () => {
    const key = await watchedKey({ depositedMicroPkr: 1000n });
    assert.equal(await ask(key, { least: 990n }), 'admitted');
    assert.deepEqual(await toldOf(key), []);
    const empty = await issueKey(database, { depositedMicroPkr: 0n });
    await addChannel(empty.organizationId);
    await ask(empty, {});
    assert.deepEqual(await toldOf(empty), []);
  });
});

describe('an alert of an expiry', () => {
  const look = () => runSql<{ keys: number }>(database)`SELECT alert_of_expiries(500) AS keys`;
  const daysTold = async (key: IssuedKey) =>
    (
      await runSql<{ days: number }>(database)`
        SELECT (data ->> 'days')::integer AS days FROM alert_deliveries
        WHERE organization_id = ${key.organizationId} AND type = 'key.expiring' ORDER BY created_at`
    ).map(({ days }) => days);
  /** Moves the expiry of a key and its next alert nearer, as time does. */
  const pass = async (key: IssuedKey, interval: string) => {
    const [{ due } = {}] = await runSql<{ due: string }>(owner)`
      SELECT expiry_alert_at - ${interval}::interval AS due FROM api_keys WHERE id = ${key.id}`;
    await runSql(
      owner,
    )`UPDATE api_keys SET expires_at = expires_at - ${interval}::interval WHERE id = ${key.id}`;
    await runSql(owner)`UPDATE api_keys SET expiry_alert_at = ${due ?? null} WHERE id = ${key.id}`;
  };

  it('comes 7 days and 1 day before it, each once', async () => {
    const key = await watchedKey({ expiresIn: '8 days' });
    await look();
    assert.deepEqual(await daysTold(key), []);
    await pass(key, '25 hours');
    await look();
    await look();
    assert.deepEqual(await daysTold(key), [7]);
    await pass(key, '6 days');
    await look();
    await look();
    assert.deepEqual(await daysTold(key), [7, 1]);
  });

  it('of a key that is minted or changed inside a threshold is only the one ahead of it', async () => {
    const key = await watchedKey({ expiresIn: '3 days' });
    const near = await watchedKey({ expiresIn: '3 hours' });
    const moved = await watchedKey({ expiresIn: '30 days' });
    await runSql(database)`
      UPDATE api_keys SET expires_at = clock_timestamp() + interval '24 hours 1 second' WHERE id = ${moved.id}`;
    await pass(key, '49 hours');
    await pass(moved, '2 seconds');
    await look();
    await look();
    assert.deepEqual(await daysTold(near), []);
    assert.deepEqual(await daysTold(key), [1]);
    assert.deepEqual(await daysTold(moved), [1]);
  });

  it('is not written for a key that is revoked or has expired', async () => {
    const revoked = await watchedKey({ expiresIn: '3 days' });
    await runSql(database)`UPDATE api_keys SET revoked_at = clock_timestamp() WHERE id = ${revoked.id}`;
    await pass(revoked, '3 days');
    const expired = await watchedKey({ expiresIn: '8 days' });
    await runSql(owner)`
      UPDATE api_keys SET expires_at = clock_timestamp() - interval '1 second', expiry_alert_at = clock_timestamp()
      WHERE id = ${expired.id}`;
    await runSql(owner)`UPDATE api_keys SET expiry_alert_at = clock_timestamp() WHERE id = ${expired.id}`;
    await look();
    assert.deepEqual([await daysTold(revoked), await daysTold(expired)], [[], []]);
  });
});
