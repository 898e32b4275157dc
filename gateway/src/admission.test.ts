import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { type Database, statement } from '@gatehouse/store';
import { createTestDatabase, type TestDatabase } from '@gatehouse/store/testing';
import { admit } from './queries.ts';
import { assertRefusal, type Bench, startBench } from './testing/bench.ts';
import { completion, json } from './testing/mock-provider.ts';
import { issueKey, moneyOf, only, startTestGateway } from './testing/test-gateway.ts';

const revoke = statement('test-revoke', 'UPDATE api_keys SET revoked_at = clock_timestamp() WHERE id = $1');
const expire = statement('test-expire', 'UPDATE api_keys SET expires_at = clock_timestamp() WHERE id = $1');
const databaseTime = statement<{ at: string }>('test-time', 'SELECT clock_timestamp() AS at');
const deadline = statement<{ at: string }>(
  'test-deadline',
  `SELECT deadline - interval '90 seconds' AS at FROM holds WHERE request_id = $1`,
);
const showCommit = statement<{ synchronous_commit: string }>('test-show-commit', 'SHOW synchronous_commit');
const spend = statement('test-spend', 'UPDATE api_keys SET spent_micro_pkr = $2 WHERE id = $1');

describe('admit_request', () => {
  let test: TestDatabase;
  before(async () => {
    test = await createTestDatabase();
  });
  after(() => test?.[Symbol.asyncDispose]());
  const ask = (keyId: string, amountMicroPkr: bigint, database = test.database) =>
    admit(database, { requestId: randomUUID(), keyId, amountMicroPkr, isByok: false, holdMs: 90_000 });
  const verdict = async (keyId: string, amountMicroPkr: bigint) => (await ask(keyId, amountMicroPkr)).verdict;

  it('sets the amount aside on the key and the organisation until the deadline, by the clock of the database', async () => {
    const key = await issueKey(test.database);
    const requestId = randomUUID();
    const { at: earliest } = await only(test.database, databaseTime);
    const request = { requestId, keyId: key.id, amountMicroPkr: 7n, isByok: false, holdMs: 90_000 };
    assert.deepEqual(await admit(test.database, request), { verdict: 'admitted', availableMicroPkr: null });
    const { at: latest } = await only(test.database, databaseTime);
    const { at } = await only(test.database, deadline, [requestId]);
    assert.ok(earliest <= at && at <= latest);
    const money = await moneyOf(test.database, key.id);
    assert.deepEqual(money, { keySpent: 0n, keyHeld: 7n, balanceHeld: 7n, holds: 1n });
  });

  it('lets a key be used up to its limit and not a micro-PKR further, counting what is spent and held', async () => {
    const key = await issueKey(test.database, { creditLimitMicroPkr: 100n });
    await test.database.run(spend, [key.id, 30]);
    assert.equal(await verdict(key.id, 60n), 'admitted');
    assert.deepEqual(await ask(key.id, 11n), { verdict: 'key_credit_exhausted', availableMicroPkr: 10n });
    assert.equal(await verdict(key.id, 10n), 'admitted');
    assert.equal(await verdict(key.id, 1n), 'key_credit_exhausted');
    assert.equal((await moneyOf(test.database, key.id)).keyHeld, 70n);
  });

  it('refuses a key that has spent its limit or more even what costs nothing', async () => {
    const key = await issueKey(test.database, { creditLimitMicroPkr: 100n });
    await test.database.run(spend, [key.id, 99]);
    assert.equal(await verdict(key.id, 0n), 'admitted');
    for (const [spent, availableMicroPkr] of [
      [100, 0n],
      [101, -1n],
    ] as const) {
      await test.database.run(spend, [key.id, spent]);
      assert.deepEqual(await ask(key.id, 0n), { verdict: 'key_credit_exhausted', availableMicroPkr });
    }
    const unlimited = await issueKey(test.database);
    await test.database.run(spend, [unlimited.id, 100]);
    assert.equal(await verdict(unlimited.id, 0n), 'admitted');
  });

  it('lets the keys of an organisation use what was deposited and no more', async () => {
    const one = await issueKey(test.database, { depositedMicroPkr: 100n });
    const two = await issueKey(test.database, {
      organizationId: one.organizationId,
      creditLimitMicroPkr: 500n,
    });
    assert.equal(await verdict(one.id, 60n), 'admitted');
    assert.equal(await verdict(two.id, 41n), 'budget_exhausted');
    assert.equal(await verdict(two.id, 40n), 'admitted');
    assert.equal(await verdict(one.id, 1n), 'budget_exhausted');
    const { keyHeld, balanceHeld, holds } = await moneyOf(test.database, two.id);
    assert.deepEqual({ keyHeld, balanceHeld, holds }, { keyHeld: 40n, balanceHeld: 100n, holds: 1n });
  });

  it('refuses an amount as large as a column holds', async () => {
    const key = await issueKey(test.database, { creditLimitMicroPkr: 100n });
    assert.equal(await verdict(key.id, 2n ** 63n - 1n), 'key_credit_exhausted');
    const unlimited = await issueKey(test.database);
    assert.equal(await verdict(unlimited.id, 2n ** 63n - 1n), 'budget_exhausted');
  });

  it('refuses a key that was revoked, that expired, or that is none, and changes nothing', async () => {
    const key = await issueKey(test.database);
    await test.database.run(revoke, [key.id]);
    assert.equal(await verdict(key.id, 1n), 'revoked');
    const expired = await issueKey(test.database);
    await test.database.run(expire, [expired.id]);
    assert.equal(await verdict(expired.id, 1n), 'expired');
    assert.equal(await verdict(randomUUID(), 1n), 'revoked');
    for (const { id } of [key, expired]) {
      const money = await moneyOf(test.database, id);
      assert.deepEqual(money, { keySpent: 0n, keyHeld: 0n, balanceHeld: 0n, holds: 0n });
    }
  });

  it('does not wait for the disk, and leaves later changes of the connection waiting for it', async () => {
    const key = await issueKey(test.database);
    await test.database.transaction(async (tx) => {
      await admit(tx, {
        requestId: randomUUID(),
        keyId: key.id,
        amountMicroPkr: 1n,
        isByok: false,
        holdMs: 1,
      });
      assert.deepEqual(await tx.one(showCommit), { synchronous_commit: 'off' });
    });
    assert.deepEqual(await test.database.one(showCommit), { synchronous_commit: 'on' });
  });

  it('accepts nothing that begins after a revocation was answered, whatever else runs', async () => {
    const key = await issueKey(test.database);
    let isRevoked = false;
    let admittedAfter = 0;
    const worker = async () => {
      while (true) {
        const beganAfter = isRevoked;
        const answer = await verdict(key.id, 1n);
        if (beganAfter && answer === 'admitted') admittedAfter += 1;
        if (answer === 'revoked') return;
      }
    };
    const workers = Array.from({ length: 6 }, worker);
    await test.database.run(revoke, [key.id]);
    isRevoked = true;
    await Promise.all(workers);
    assert.equal(admittedAfter, 0);
  });
});

describe('credit under concurrency', () => {
  let bench: Bench;
  before(async () => {
    bench = await startBench();
    bench.provider.script = json(completion('x', { prompt: 1, completion: 1 }));
  });
  after(() => bench?.[Symbol.asyncDispose]());

  for (const [title, money] of [
    ['a key', { creditLimitMicroPkr: 10n * 6_160n + 6_159n }],
    ['an organisation', { depositedMicroPkr: 10n * 6_160n + 6_159n }],
  ] as const) {
    it(`402 for all but the ten of fifty at once that the credit of ${title} is worth`, async () => {
      const key = await issueKey(bench.database, money);
      // 8 tokens of prompt and 10 of answer: 6,160 micro-PKR, and nobody settles in this test.
      const statuses = await Promise.all(
        Array.from({ length: 50 }, async () => {
          const response = await bench.gateway.chat(key.secret, { max_tokens: 10 });
          await response.text();
          return response.status;
        }),
      );
      assert.equal(statuses.filter((status) => status === 200).length, 10);
      assert.equal(statuses.filter((status) => status === 402).length, 40);
      const { keyHeld, balanceHeld, holds } = await moneyOf(bench.database, key.id);
      assert.deepEqual(
        { keyHeld, balanceHeld, holds },
        { keyHeld: 61_600n, balanceHeld: 61_600n, holds: 10n },
      );
    });
  }

  for (const [change, code] of [
    [revoke, 'invalid_api_key'],
    [expire, 'key_expired'],
  ] as const) {
    it(`401 ${code} when that becomes true between reading the key and admitting the request`, async () => {
      const key = await issueKey(bench.database);
      const { database } = bench;
      const changing: Database = {
        ...database,
        async one(query, values) {
          if (query.name === 'gateway-admit') await database.run(change, [key.id]);
          return database.one(query, values);
        },
      };
      await using gateway = await startTestGateway(changing);
      const asked = bench.provider.asked.length;
      const response = await gateway.chat(key.secret);
      await assertRefusal(response, { status: 401, code, type: 'authentication_error' });
      assert.equal(bench.provider.asked.length, asked);
      assert.deepEqual(
        gateway.journal.records.map(({ status, refusal, isHeld }) => [status, refusal, isHeld]),
        [[401, code, false]],
      );
      assert.equal((await moneyOf(database, key.id)).holds, 0n);
    });
  }
});
