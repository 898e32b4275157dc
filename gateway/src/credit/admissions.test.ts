import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFairScheduler } from '@gatehouse/concurrency';
import type { KeyId } from '@gatehouse/contract';
import { type Database, DatabaseUnavailable } from '@gatehouse/store';
import { useTestDatabase } from '@gatehouse/store/testing';
import { newRequestId } from '../http/request-id.ts';
import { createPermits } from '../pipeline/permits.ts';
import { issueKey, moneyOf } from '../testing/test-gateway.ts';
import { createAdmissions } from './admissions.ts';
import { type Admission, admit } from './queries.ts';

const request = (keyId: KeyId, amountMicroPkr: bigint): Admission => ({
  requestId: newRequestId(Date.now()),
  keyId,
  leastMicroPkr: amountMicroPkr,
  mostMicroPkr: amountMicroPkr,
  isByok: false,
  holdMs: 90_000,
});

const test = await useTestDatabase();
const { database } = test;

describe('admissions', () => {
  /** A database that records the statements and can block them. */
  function watched() {
    /** The number of finished and of new requests in each statement. */
    const asked: [number, number][] = [];
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
        const { finishedIds, requestIds } = given[0] as unknown as Record<string, unknown[]>;
        asked.push([finishedIds?.length ?? 0, requestIds?.length ?? 0]);
        await held;
        return database.many(query, ...given);
      },
    };
    return { asked, hold, release: () => release(), database: through };
  }

  it('sends a single request at once, and those that arrive meanwhile in one statement per organisation', async () => {
    const [one, other] = [await issueKey(database), await issueKey(database)];
    const watch = watched();
    watch.hold();
    const admissions = createAdmissions(watch.database, createPermits(60_000).admissions);
    const all = [one, one, one, one, other].map((key) =>
      admissions.admit(key.organizationId, request(key.id, 5n)),
    );
    assert.deepEqual(
      watch.asked,
      [
        [0, 1],
        [0, 1],
      ],
      'no organisation waits for another',
    );
    watch.release();
    for (const { kind } of await Promise.all(all)) assert.equal(kind, 'admitted');
    assert.deepEqual(watch.asked.slice(2), [[0, 3]]);
    assert.equal((await moneyOf(database, one.id)).keyHeld, 20n);
    await admissions.admit(one.organizationId, request(one.id, 5n));
    assert.deepEqual(watch.asked.at(-1), [0, 1]);
  });

  it('lowers the holds of finished requests before it decides on new ones in the same statement', async () => {
    const key = await issueKey(database, { creditLimitMicroPkr: 100n });
    const watch = watched();
    const admissions = createAdmissions(watch.database, createPermits(60_000).admissions);
    const first = request(key.id, 90n);
    await admit(database, key.organizationId, [first]);
    watch.hold();
    const busy = admissions.admit(key.organizationId, request(key.id, 1n));
    const next = admissions.admit(key.organizationId, request(key.id, 60n));
    const finished = admissions.finish(key.organizationId, { requestId: first.requestId, costMicroPkr: 30n });
    watch.release();
    await Promise.all([busy, finished]);
    assert.deepEqual(await next, { kind: 'admitted', grantedMicroPkr: 60n });
    assert.deepEqual(watch.asked, [
      [0, 1],
      [1, 1],
    ]);
    assert.equal((await moneyOf(database, key.id)).keyHeld, 91n);
  });

  it('fails only the requests that the database rejects', async () => {
    const key = await issueKey(database);
    const early = request(key.id, 32n);
    await admit(database, key.organizationId, [early]);
    const watch = watched();
    watch.hold();
    const admissions = createAdmissions(watch.database, createPermits(60_000).admissions);
    const first = admissions.admit(key.organizationId, request(key.id, 1n));
    const twice = request(key.id, 2n);
    const all = [twice, request(key.id, 4n), twice, request(key.id, 8n)].map((one) =>
      admissions.admit(key.organizationId, one),
    );
    const finished = [-1n, 0n].map((costMicroPkr) =>
      admissions.finish(key.organizationId, { requestId: early.requestId, costMicroPkr }),
    );
    watch.release();
    await first;
    const outcomes = (await Promise.allSettled([...finished, ...all])).map(({ status }) => status);
    assert.deepEqual(outcomes, ['rejected', 'fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    assert.equal((await moneyOf(database, key.id)).keyHeld, 15n);
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
    const admissions = createAdmissions(broken, createPermits(60_000).admissions);
    const finished = { requestId: newRequestId(Date.now()), costMicroPkr: 1n };
    const all = Array.from({ length: 6 }, (_, n) =>
      n % 2
        ? admissions.admit(key.organizationId, request(key.id, 1n))
        : admissions.finish(key.organizationId, finished),
    );
    for (const outcome of await Promise.allSettled(all)) {
      assert.ok(outcome.status === 'rejected' && outcome.reason instanceof DatabaseUnavailable);
    }
    assert.equal(asked, 1);
    isDown = false;
    assert.equal((await admissions.admit(key.organizationId, request(key.id, 1n))).kind, 'admitted');
  });

  it('stops waiting for a permit after the timeout while other statements hang, and tries again for later requests', async () => {
    const [busy, waiting] = [await issueKey(database), await issueKey(database)];
    const watch = watched();
    watch.hold();
    const permits = createFairScheduler({
      permits: 1,
      permitsPerTenant: 1,
      queuePerTenant: 1,
      timeoutMs: 20,
    });
    const admissions = createAdmissions(watch.database, permits);
    const first = admissions.admit(busy.organizationId, request(busy.id, 1n));
    const { organizationId } = waiting;
    const finished = { requestId: newRequestId(Date.now()), costMicroPkr: 1n };
    for (const outcome of await Promise.allSettled([
      admissions.admit(organizationId, request(waiting.id, 1n)),
      admissions.finish(organizationId, finished),
    ])) {
      assert.ok(outcome.status === 'rejected' && outcome.reason instanceof DatabaseUnavailable);
    }
    assert.deepEqual(watch.asked, [[0, 1]]);
    watch.release();
    assert.equal((await first).kind, 'admitted');
    assert.equal((await admissions.admit(organizationId, request(waiting.id, 1n))).kind, 'admitted');
  });
});
