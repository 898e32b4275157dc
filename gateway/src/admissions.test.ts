import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Database, DatabaseUnavailable, statement } from '@gatehouse/store';
import { createTestDatabase, type TestDatabase } from '@gatehouse/store/testing';
import { createAdmissions } from './admissions.ts';
import { createPermits } from './permits.ts';
import { type Admission, admit, admitMany, type Ruling } from './queries.ts';
import { newRequestId } from './request-id.ts';
import { issueKey, moneyOf } from './testing/test-gateway.ts';
import { admitByok } from './vault/queries.ts';

const revoke = statement('test-revoke', 'UPDATE api_keys SET revoked_at = clock_timestamp() WHERE id = $1');
const expire = statement('test-expire', 'UPDATE api_keys SET expires_at = clock_timestamp() WHERE id = $1');

const request = (keyId: string, amountMicroPkr: bigint, isByok = false): Admission => ({
  requestId: newRequestId(Date.now()),
  keyId,
  amountMicroPkr,
  isByok,
  holdMs: 90_000,
});

describe('admissions', () => {
  let test: TestDatabase;
  let database: Database;
  before(async () => {
    test = await createTestDatabase();
    database = test.database;
  });
  after(() => test?.[Symbol.asyncDispose]());

  /** Counts what is asked of the database, and can be held. */
  function watched() {
    const asked: string[] = [];
    let release: () => void = () => {};
    let held: Promise<void> | undefined;
    const hold = () => {
      held = new Promise((resolve) => {
        release = resolve;
      });
    };
    const through: Database = {
      ...database,
      async one(query, values) {
        asked.push(query.name);
        await held;
        return database.one(query, values);
      },
      async many(query, values) {
        asked.push(`${query.name} ${(values?.[0] as unknown[] | undefined)?.length}`);
        await held;
        return database.many(query, values);
      },
    };
    return { asked, hold, release: () => release(), database: through };
  }

  it('sends one alone, and together what came meanwhile, organisation by organisation', async () => {
    const [one, other] = [await issueKey(database), await issueKey(database)];
    const watch = watched();
    watch.hold();
    const admissions = createAdmissions(watch.database, createPermits(60_000).admissions);
    const all = [one, one, one, one, other].map((key) =>
      admissions.admit(key.organizationId, request(key.id, 5n)),
    );
    assert.deepEqual(
      watch.asked,
      ['gateway-admit', 'gateway-admit'],
      'nobody waits for another organisation',
    );
    watch.release();
    for (const { verdict } of await Promise.all(all)) assert.equal(verdict, 'admitted');
    assert.deepEqual(watch.asked.slice(2), ['gateway-admit-many 3']);
    assert.equal((await moneyOf(database, one.id)).keyHeld, 20n);
    await admissions.admit(one.organizationId, request(one.id, 5n));
    assert.equal(watch.asked.at(-1), 'gateway-admit');
  });

  it('gives each of many the answer it would have had alone, whatever the others are', async () => {
    // The same situation twice: judged one by one in the one, together in the other.
    const situation = async () => {
      const first = await issueKey(database, { depositedMicroPkr: 100n, creditLimitMicroPkr: 50n });
      const { organizationId } = first;
      const second = await issueKey(database, { organizationId });
      const revoked = await issueKey(database, { organizationId });
      const expired = await issueKey(database, { organizationId });
      await database.run(revoke, [revoked.id]);
      await database.run(expire, [expired.id]);
      // By id, because that is the order in which several keys are judged.
      const named = [
        { id: first.id, amounts: [30n, 21n, 20n, 1n, 0n] },
        { id: second.id, amounts: [40n, 11n, 10n, 2n ** 63n - 1n, 0n, 1n] },
        { id: revoked.id, amounts: [1n] },
        { id: expired.id, amounts: [1n, 1n] },
        { id: crypto.randomUUID(), amounts: [1n] },
      ];
      return { ids: named.map(({ id }) => id), keys: named.toSorted((a, b) => (a.id < b.id ? -1 : 1)) };
    };
    for (let round = 0; round < 10; round += 1) {
      const { ids, keys } = await situation();
      const requests = keys.flatMap(({ id, amounts }) =>
        amounts.map((amount, n) => request(id, amount, n % 3 === 1)),
      );
      const rulings: Ruling[] = [];
      await database
        .transaction(async (tx) => {
          for (const one of requests) rulings.push(await (one.isByok ? admitByok : admit)(tx, one));
          throw new Undone();
        })
        .catch((error: unknown) => assert.ok(error instanceof Undone));
      assert.deepEqual(await admitMany(database, requests), rulings);
      assert.deepEqual(new Set(rulings.map(({ verdict }) => verdict)).size, 5);
      const held = await Promise.all(ids.slice(0, 2).map((id) => moneyOf(database, id)));
      const admitted = (id: string | undefined) =>
        requests
          .filter((one, index) => one.keyId === id && rulings[index]?.verdict === 'admitted')
          .map(({ amountMicroPkr }) => amountMicroPkr);
      held.forEach((money, index) => {
        const amounts = admitted(ids[index]);
        assert.equal(
          money.keyHeld,
          amounts.reduce((sum, amount) => sum + amount, 0n),
        );
        assert.equal(money.holds, BigInt(amounts.length));
      });
      assert.equal(held[0]?.balanceHeld, (held[0]?.keyHeld ?? 0n) + (held[1]?.keyHeld ?? 0n));
    }
  });

  it('lets what the database cannot take fail alone', async () => {
    const key = await issueKey(database);
    const watch = watched();
    watch.hold();
    const admissions = createAdmissions(watch.database, createPermits(60_000).admissions);
    const first = admissions.admit(key.organizationId, request(key.id, 1n));
    const twice = request(key.id, 2n);
    const all = [twice, request(key.id, 4n), twice, request(key.id, 8n)].map((one) =>
      admissions.admit(key.organizationId, one),
    );
    watch.release();
    await first;
    const outcomes = (await Promise.allSettled(all)).map(({ status }) => status);
    assert.deepEqual(outcomes, ['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    assert.equal((await moneyOf(database, key.id)).keyHeld, 15n);
  });

  it('tells all who wait at once that the database is away, and asks again for who comes later', async () => {
    const key = await issueKey(database);
    let isAway = true;
    let asked = 0;
    const broken: Database = {
      ...database,
      async one(query, values) {
        asked += 1;
        if (isAway) throw new DatabaseUnavailable('away');
        return database.one(query, values);
      },
    };
    const admissions = createAdmissions(broken, createPermits(60_000).admissions);
    const all = Array.from({ length: 5 }, () => admissions.admit(key.organizationId, request(key.id, 1n)));
    for (const outcome of await Promise.allSettled(all)) {
      assert.ok(outcome.status === 'rejected' && outcome.reason instanceof DatabaseUnavailable);
    }
    assert.equal(asked, 1);
    isAway = false;
    assert.equal((await admissions.admit(key.organizationId, request(key.id, 1n))).verdict, 'admitted');
  });

  it('does not deadlock with others that take the same keys in another order', async () => {
    const first = await issueKey(database);
    const { organizationId } = first;
    const keys = [
      first,
      await issueKey(database, { organizationId }),
      await issueKey(database, { organizationId }),
    ];
    const rounds = Array.from({ length: 120 }, (_, n) => {
      const order = n % 2 ? keys : keys.toReversed();
      return n % 3
        ? admitMany(
            database,
            order.map(({ id }) => request(id, 1n)),
          )
        : admit(database, request(order[n % 3]?.id ?? '', 1n));
    });
    await Promise.all(rounds);
    const held = await Promise.all(keys.map(({ id }) => moneyOf(database, id)));
    const sum = held.reduce((total, { keyHeld }) => total + keyHeld, 0n);
    assert.equal(held[0]?.balanceHeld, sum);
    assert.equal(sum, 80n * 3n + 40n);
  });
});

class Undone extends Error {}
