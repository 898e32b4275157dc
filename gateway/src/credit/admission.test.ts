import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KeyId, RequestId } from '@gatehouse/contract';
import { type NoParameters, type Queryable, sql, statement } from '@gatehouse/store';
import { useTestDatabase } from '@gatehouse/store/testing';
import { newRequestId } from '../exchange/request-id.ts';
import { admit } from '../testing/admit.ts';
import { untilLockWait } from '../testing/lock-wait.ts';
import { type IssuedKey, issueKey, moneyOf, only } from '../testing/test-gateway.ts';
import { type AdmissionFields, expireKey, granted, held, request, revokeKey } from './admission.fixture.ts';
import type { AdmissionDecision } from './queries.ts';

const databaseTime = statement<NoParameters, { at: string }>(
  'test-time',
  sql`SELECT clock_timestamp() AS at`,
);
const deadline = statement<{ requestId: RequestId }, { at: string }>(
  'test-deadline',
  sql`SELECT deadline - interval '90 seconds' AS at FROM holds WHERE request_id = ${'requestId'}`,
);
const showCommit = statement<NoParameters, { synchronousCommit: string }>(
  'test-show-commit',
  sql`SHOW synchronous_commit`,
);

const test = await useTestDatabase();

describe('admit', () => {
  const ask = async (key: IssuedKey, fields: AdmissionFields, database: Queryable = test.database) => {
    const [decision] = await admit(database, key.organizationId, [request(key.id, fields)]);
    assert.ok(decision);
    return decision;
  };
  const kindOf = async (key: IssuedKey, least: bigint) => (await ask(key, { least })).kind;

  it('sets what it grants aside until the deadline, by the clock of the database', async () => {
    const key = await issueKey(test.database, { creditLimitMicroPkr: 7n });
    const wanted = request(key.id, { least: 1n, most: 9n });
    const { at: earliest } = await only(test.database, databaseTime);
    assert.deepEqual(await admit(test.database, key.organizationId, [wanted]), [granted(7n)]);
    const { at: latest } = await only(test.database, databaseTime);
    const { at } = await only(test.database, deadline, { requestId: wanted.requestId });
    assert.ok(earliest <= at && at <= latest);
    const money = await moneyOf(test.database, key.id);
    assert.deepEqual(money, { keySpent: 0n, keyHeld: 7n, balanceHeld: 7n, holds: 1n });
  });

  it('judges requests in their order, each after what those before it took, whatever their keys', async () => {
    const { database } = test;
    const one = await issueKey(database, { depositedMicroPkr: 100n, creditLimitMicroPkr: 70n });
    const two = await issueKey(database, { organizationId: one.organizationId });
    const wants = (key: IssuedKey, least: bigint, most: bigint) => request(key.id, { least, most });
    assert.deepEqual(
      await admit(database, one.organizationId, [
        wants(two, 10n, 20n),
        wants(one, 10n, 60n),
        wants(one, 11n, 20n),
        wants(two, 10n, 50n),
        wants(two, 1n, 1n),
        wants(one, 5n, 20n),
        wants(one, 0n, 0n),
      ]),
      [
        granted(20n),
        granted(60n),
        held('key', 70n, 0n, 60n),
        granted(20n),
        held('organization', 100n, 0n, 100n),
        held('organization', 100n, 0n, 100n),
        granted(0n),
      ],
    );
    assert.deepEqual(await moneyOf(database, one.id), {
      keySpent: 0n,
      keyHeld: 60n,
      balanceHeld: 100n,
      holds: 2n,
    });
  });

  it('lets two keys over two connections share a deposit, and neither have what the other holds', async () => {
    for (let round = 0; round < 20; round += 1) {
      const one = await issueKey(test.database, { depositedMicroPkr: 100n });
      const two = await issueKey(test.database, { organizationId: one.organizationId });
      const first = await Promise.all([one, two].map((key) => ask(key, { least: 60n })));
      assert.deepEqual(
        first.toSorted((a, b) => (a.kind < b.kind ? -1 : 1)),
        [granted(60n), held('organization', 100n, 0n, 60n)],
      );
      const three = await issueKey(test.database, { depositedMicroPkr: 100n });
      const four = await issueKey(test.database, { organizationId: three.organizationId });
      const clamped = await Promise.all([three, four].map((key) => ask(key, { least: 10n, most: 60n })));
      assert.deepEqual(
        clamped.toSorted((a, b) => (JSON.stringify(a, text) < JSON.stringify(b, text) ? -1 : 1)),
        [granted(40n), granted(60n)],
      );
    }
  });

  for (const [frame, others] of [
    ['alone', []],
    ['in a batch', [{}, {}]],
  ] as const) {
    it(`reads the balance under its lock, ${frame}: two keys over two connections get one 60 of a deposit of 100`, async () => {
      const { database, owner } = test;
      const one = await issueKey(database, { depositedMicroPkr: 100n });
      const two = await issueKey(database, { organizationId: one.organizationId });
      const wants = (key: IssuedKey) => [
        request(key.id, { least: 60n }),
        ...others.map((fields) => request(key.id, fields)),
      ];
      let second: Promise<AdmissionDecision[]> | undefined;
      const [first] = await database.transaction(async (tx) => {
        const decisions = await admit(tx, one.organizationId, wants(one));
        second = admit(database, one.organizationId, wants(two));
        await untilLockWait(owner);
        return decisions;
      });
      assert.deepEqual(first, granted(60n));
      assert.deepEqual((await second)?.[0], held('organization', 100n, 0n, 60n));
    });

    for (const [clock, hours] of [
      ['behind', -1],
      ['ahead', 1],
    ] as const) {
      it(`judges expiry by the database's clock, ${frame}, from a gateway whose clock is an hour ${clock}`, async () => {
        const { database } = test;
        const { organizationId, ...live } = await issueKey(database, { expiresIn: '1 minute' });
        const expired = await issueKey(database, { organizationId, expiresIn: '-1 second' });
        const requestId = () => newRequestId(Date.now() + hours * 3_600_000);
        for (const [id, kind] of [
          [live.id, 'admitted'],
          [expired.id, 'expired'],
        ] as const) {
          const wants = [{}, ...others].map(() => request(id, { requestId: requestId() }));
          const decisions = await admit(database, organizationId, wants);
          assert.deepEqual(
            decisions.map((decision) => decision.kind),
            wants.map(() => kind),
          );
        }
      });
    }
  }

  it('refuses keys that were revoked, that expired, that are another organisation’s or none, and changes nothing', async () => {
    const { database } = test;
    const live = await issueKey(database);
    const { organizationId } = live;
    const revoked = await issueKey(database, { organizationId });
    await database.run(revokeKey, { keyId: revoked.id });
    const expired = await issueKey(database, { organizationId });
    await database.run(expireKey, { keyId: expired.id });
    const later = await issueKey(database, { organizationId, expiresIn: '1 hour' });
    const foreign = await issueKey(database);
    const keys = [
      revoked.id,
      expired.id,
      later.id,
      foreign.id,
      crypto.randomUUID() as string as KeyId,
      live.id,
    ];
    const expected = ['revoked', 'expired', 'admitted', 'revoked', 'revoked', 'admitted'];
    const judged = await admit(
      database,
      organizationId,
      keys.map((id) => request(id, { least: 1n })),
    );
    assert.deepEqual(
      judged.map(({ kind }) => kind),
      expected,
    );
    for (const [index, id] of keys.entries()) {
      const [alone] = await admit(database, organizationId, [request(id, { least: 1n })]);
      assert.equal(alone?.kind, expected[index]);
    }
    for (const { id } of [revoked, expired, foreign])
      assert.deepEqual((await moneyOf(database, id)).holds, 0n);
  });

  it('does not wait for the disk, and leaves later changes of the connection waiting for it', async () => {
    const key = await issueKey(test.database);
    await test.database.transaction(async (tx) => {
      await ask(key, { least: 1n }, tx);
      assert.deepEqual(await tx.one(showCommit), { synchronousCommit: 'off' });
    });
    assert.deepEqual(await test.database.one(showCommit), { synchronousCommit: 'on' });
  });

  it('accepts nothing that begins after a revocation was answered, whatever else runs', async () => {
    const key = await issueKey(test.database);
    let isRevoked = false;
    let admittedAfter = 0;
    const worker = async () => {
      while (true) {
        const beganAfter = isRevoked;
        const answer = await kindOf(key, 1n);
        if (beganAfter && answer === 'admitted') admittedAfter += 1;
        if (answer === 'revoked') return;
      }
    };
    const workers = Array.from({ length: 6 }, worker);
    await test.database.run(revokeKey, { keyId: key.id });
    isRevoked = true;
    await Promise.all(workers);
    assert.equal(admittedAfter, 0);
  });
});

function text(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value).padStart(20, '0') : value;
}
