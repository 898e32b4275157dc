import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KeyId } from '@gatehouse/contract';
import { type Database, DatabaseUnavailable, sql, statement } from '@gatehouse/store';
import { useTestDatabase } from '@gatehouse/store/testing';
import { newRequestId } from '../exchange/request-id.ts';
import { type AdmissionOfOne, admit } from '../testing/admit.ts';
import { type IssuedKey, issueKey, moneyOf } from '../testing/test-gateway.ts';
import { createAdmissions } from './admissions.ts';

const request = (keyId: KeyId, leastMicroPkr: bigint, mostMicroPkr = leastMicroPkr): AdmissionOfOne => ({
  requestId: newRequestId(Date.now()),
  keyId,
  leastMicroPkr,
  mostMicroPkr,
  isByok: false,
  holdMs: 90_000,
});
const lockKey = statement<{ keyId: KeyId }>(
  'test-lock-key',
  sql`SELECT FROM api_keys WHERE id = ${'keyId'} FOR UPDATE`,
);

const test = await useTestDatabase();
const { database } = test;

/** Resolves after the turn of the event loop in which a statement is sent. */
const turn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

describe('admissions', () => {
  /** A database that records the statements and can block them. */
  function watched() {
    /** The number of finished and of new requests in each statement, and how long it waits for locks. */
    const asked: [number, number, number | null][] = [];
    let release: () => void = () => {};
    let held: Promise<void> | undefined;
    const hold = () => {
      held = new Promise((resolve) => {
        release = resolve;
      });
    };
    const through: Database = {
      ...database,
      async many(query, ...given) {
        assert.equal(query.name, 'gateway-admit');
        const { finishedIds, requestIds, lockTimeoutMs } = given[0] as unknown as {
          finishedIds: unknown[];
          requestIds: unknown[];
          lockTimeoutMs: number | null;
        };
        asked.push([finishedIds.length, requestIds.length, lockTimeoutMs]);
        await held;
        return database.many(query, ...given);
      },
    };
    return { asked, hold, release: () => release(), database: through };
  }
  const start = (given: Database, timeoutMs = 60_000) => {
    const admissions = createAdmissions(given, timeoutMs);
    const ask = (key: IssuedKey, least: bigint, most = least) =>
      admissions.admit(key.organizationId, request(key.id, least, most));
    return { admissions, ask };
  };

  it('sends what came together in one statement of all organisations, and what comes meanwhile in the next', async () => {
    const [one, other] = [await issueKey(database), await issueKey(database)];
    const watch = watched();
    watch.hold();
    const { ask } = start(watch.database);
    const all = [ask(one, 5n), ask(other, 5n)];
    await turn();
    all.push(...[one, one, one, other].map((key) => ask(key, 5n)));
    await turn();
    assert.deepEqual(watch.asked, [[0, 2, 100]]);
    watch.release();
    for (const { kind } of await Promise.all(all)) assert.equal(kind, 'admitted');
    assert.deepEqual(watch.asked.slice(1), [[0, 4, 100]]);
    assert.equal((await moneyOf(database, one.id)).keyHeld, 20n);
    assert.equal((await moneyOf(database, other.id)).keyHeld, 10n);
  });

  it('lowers the holds of finished requests before it decides on new ones in the same statement', async () => {
    const key = await issueKey(database, { creditLimitMicroPkr: 100n });
    const watch = watched();
    const { admissions, ask } = start(watch.database);
    const first = request(key.id, 90n);
    await admit(database, key.organizationId, [first]);
    watch.hold();
    const busy = ask(key, 1n);
    await turn();
    const next = ask(key, 60n);
    const finished = admissions.finish(key.organizationId, { requestId: first.requestId, costMicroPkr: 30n });
    watch.release();
    await Promise.all([busy, finished]);
    assert.deepEqual(await next, { kind: 'admitted', grantedMicroPkr: 60n });
    assert.deepEqual(watch.asked, [
      [0, 1, 100],
      [1, 1, 100],
    ]);
    assert.equal((await moneyOf(database, key.id)).keyHeld, 91n);
  });

  it('fails only the requests that the database rejects, and of their organisation', async () => {
    const [key, other] = [await issueKey(database), await issueKey(database)];
    const early = request(key.id, 32n);
    await admit(database, key.organizationId, [early]);
    const { admissions, ask } = start(database);
    const twice = request(key.id, 2n);
    const all = [twice, request(key.id, 4n), twice, request(key.id, 8n)].map((one) =>
      admissions.admit(key.organizationId, one),
    );
    const finished = [-1n, 0n].map((costMicroPkr) =>
      admissions.finish(key.organizationId, { requestId: early.requestId, costMicroPkr }),
    );
    const outcomes = (await Promise.allSettled([...finished, ...all, ask(other, 1n)])).map(
      ({ status }) => status,
    );
    assert.deepEqual(outcomes, [
      ...['rejected', 'fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
    ]);
    assert.equal((await moneyOf(database, key.id)).keyHeld, 14n);
    assert.equal((await moneyOf(database, other.id)).keyHeld, 1n);
  });

  it('fails all waiting requests when the database is unavailable, and tries again for later ones', async () => {
    const key = await issueKey(database);
    let isDown = true;
    let asked = 0;
    const broken: Database = {
      ...database,
      async many(query, ...given) {
        asked += 1;
        if (isDown) throw new DatabaseUnavailable('down');
        return database.many(query, ...given);
      },
    };
    const { admissions, ask } = start(broken);
    const finished = { requestId: newRequestId(Date.now()), costMicroPkr: 1n };
    const all = Array.from({ length: 6 }, (_, n) =>
      n % 2 ? ask(key, 1n) : admissions.finish(key.organizationId, finished),
    );
    for (const outcome of await Promise.allSettled(all)) {
      assert.ok(outcome.status === 'rejected' && outcome.reason instanceof DatabaseUnavailable);
    }
    assert.equal(asked, 1);
    isDown = false;
    assert.equal((await ask(key, 1n)).kind, 'admitted');
  });

  it('stops waiting for its statement after the timeout while others hang, and tries again for later requests', async () => {
    const waiting = await issueKey(database);
    const watch = watched();
    watch.hold();
    const { admissions, ask } = start(watch.database, 20);
    const first: Promise<unknown>[] = [];
    // As many as may be in flight.
    for (let count = 1; count <= 3; count += 1) {
      first.push(ask(await issueKey(database), 1n));
      while (watch.asked.length < count) await turn();
    }
    const finished = { requestId: newRequestId(Date.now()), costMicroPkr: 1n };
    for (const outcome of await Promise.allSettled([
      ask(waiting, 1n),
      admissions.finish(waiting.organizationId, finished),
    ])) {
      assert.ok(outcome.status === 'rejected' && outcome.reason instanceof DatabaseUnavailable);
    }
    assert.equal(watch.asked.length, 3);
    watch.release();
    assert.equal((await Promise.all(first)).length, 3);
    assert.equal((await ask(waiting, 1n)).kind, 'admitted');
  });

  it('delays other organisations once while a row of one is locked, by the time limit of a shared statement', async () => {
    const [stuck, other, third] = [
      await issueKey(database),
      await issueKey(database),
      await issueKey(database),
    ];
    const watch = watched();
    const { ask } = start(watch.database);
    let blocked: Promise<unknown> | undefined;
    const waits: number[] = [];
    await test.owner.transaction(async (tx) => {
      await tx.run(lockKey, { keyId: stuck.id });
      blocked = ask(stuck, 1n);
      for (const key of [other, third, other, third]) {
        const askedAt = performance.now();
        assert.equal((await ask(key, 1n)).kind, 'admitted');
        waits.push(performance.now() - askedAt);
      }
      // In the first statement with the stuck one, and then never again with it.
      assert.equal(watch.asked.filter(([, requests]) => requests > 1).length, 1);
      assert.ok((waits[0] ?? 0) >= 90, `${waits}`);
    });
    assert.deepEqual(await blocked, { kind: 'admitted', grantedMicroPkr: 1n });
    assert.equal((await moneyOf(database, stuck.id)).keyHeld, 1n);
    assert.equal((await moneyOf(database, other.id)).keyHeld, 2n);
  });

  it('judges a request that only lacks held credit once more, a moment later', async () => {
    const key = await issueKey(database, { creditLimitMicroPkr: 100n });
    const first = request(key.id, 90n);
    await admit(database, key.organizationId, [first]);
    const watch = watched();
    const { ask } = start(watch.database);
    assert.equal((await ask(key, 60n)).kind, 'credit_held');
    assert.equal(watch.asked.length, 2);
    const second = ask(key, 60n);
    await turn();
    // As another process does it.
    await admit(database, key.organizationId, [], [{ requestId: first.requestId, costMicroPkr: 30n }]);
    assert.equal((await second).kind, 'admitted');
  });

  it('retries after 25 ms a request whose grant is reduced by holds', async () => {
    const key = await issueKey(database, { creditLimitMicroPkr: 100n });
    const first = request(key.id, 90n);
    await admit(database, key.organizationId, [first]);
    const watch = watched();
    const { ask } = start({
      ...watch.database,
      async many(query, ...given) {
        const rows = await watch.database.many(query, ...given);
        // As another process does it.
        await admit(database, key.organizationId, [], [{ requestId: first.requestId, costMicroPkr: 30n }]);
        return rows;
      },
    });
    assert.deepEqual(await ask(key, 5n, 60n), { kind: 'admitted', grantedMicroPkr: 60n });
    assert.equal(watch.asked.length, 2);
    // Still held a moment later.
    assert.deepEqual(await ask(key, 5n, 60n), { kind: 'admitted', grantedMicroPkr: 10n });
    assert.equal(watch.asked.length, 4);
  });

  for (const [title, limits, spent, granted, statements] of [
    ['what is wanted, judged once', [100n, 100n], 0n, 60n, 1],
    ['what is unspent of a key where that is less, judged again at once', [100n, 200n], 70n, 30n, 2],
    ['what is unspent of a balance where that is less, judged again at once', [200n, 100n], 70n, 30n, 2],
    ['what is unspent of both where one has still less, judged for each', [110n, 100n], 70n, 30n, 3],
    ['nothing where less than the least is unspent, judged once', [100n, 200n], 96n, undefined, 1],
  ] as const) {
    it(`grants ${title}`, async () => {
      const [creditLimitMicroPkr, depositedMicroPkr] = limits;
      const key = await issueKey(database, { creditLimitMicroPkr, depositedMicroPkr });
      const first = request(key.id, spent);
      const finished = { requestId: first.requestId, costMicroPkr: spent };
      await admit(database, key.organizationId, [first]);
      await admit(database, key.organizationId, [], [finished]);
      const watch = watched();
      const decision = await start(watch.database).ask(key, 5n, 60n);
      assert.equal(decision.kind, granted === undefined ? 'key_credit_exhausted' : 'admitted');
      if (decision.kind === 'admitted') assert.equal(decision.grantedMicroPkr, granted);
      assert.equal(watch.asked.length, statements);
    });
  }
});
