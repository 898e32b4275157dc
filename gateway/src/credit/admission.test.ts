import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { KeyId, OrganizationId, RequestId } from '@gatehouse/contract';
import { type Database, type NoParameters, type Queryable, sql, statement } from '@gatehouse/store';
import { useTestDatabase } from '@gatehouse/store/testing';
import { newRequestId } from '../http/request-id.ts';
import { assertError, useBench } from '../testing/bench.ts';
import { untilLockWait } from '../testing/lock-wait.ts';
import { completion, json } from '../testing/mock-provider.ts';
import { type IssuedKey, issueKey, moneyOf, only, startTestGateway } from '../testing/test-gateway.ts';
import { type Admission, type AdmissionDecision, admit } from './queries.ts';

type OfKey = { keyId: KeyId };

const revoke = statement<OfKey>(
  'test-revoke',
  sql`UPDATE api_keys SET revoked_at = clock_timestamp() WHERE id = ${'keyId'}`,
);
const expire = statement<OfKey>(
  'test-expire',
  sql`UPDATE api_keys SET expires_at = clock_timestamp() WHERE id = ${'keyId'}`,
);
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
const setAccounts = statement<{
  keyId: KeyId;
  keySpent: bigint;
  limit: bigint | null;
  organizationId: OrganizationId;
  organizationSpent: bigint;
  deposited: bigint;
}>(
  'test-set-accounts',
  sql`
    WITH b AS (
      UPDATE balances SET deposited_micro_pkr = ${'deposited'}, spent_micro_pkr = ${'organizationSpent'}
      WHERE organization_id = ${'organizationId'}
    )
    UPDATE api_keys SET credit_limit_micro_pkr = ${'limit'}, spent_micro_pkr = ${'keySpent'} WHERE id = ${'keyId'}`,
);
const closeWeeks = statement<NoParameters>(
  'test-close-weeks',
  sql`
    UPDATE settlement_horizon
    SET opened_at = settlement_bound('2001-01-01'), closed_before = settlement_bound('2002-01-01')`,
);

type AdmissionFields = Partial<Admission> & { readonly least?: bigint; readonly most?: bigint };

/** A request with a key; it wants exactly `least` unless `most` says more. */
function request(keyId: KeyId, { least = 0n, most = least, ...others }: AdmissionFields = {}): Admission {
  return {
    requestId: newRequestId(Date.now()),
    keyId,
    leastMicroPkr: least,
    mostMicroPkr: most,
    isByok: false,
    holdMs: 90_000,
    ...others,
  };
}

const test = await useTestDatabase();

describe('admit_requests', () => {
  const ask = async (key: IssuedKey, fields: AdmissionFields, database: Queryable = test.database) => {
    const [decision] = await admit(database, key.organizationId, [request(key.id, fields)]);
    assert.ok(decision);
    return decision;
  };
  const kindOf = async (key: IssuedKey, least: bigint) => (await ask(key, { least })).kind;
  const granted = (grantedMicroPkr: bigint): AdmissionDecision => ({ kind: 'admitted', grantedMicroPkr });
  const figures = (limit: bigint, spent: bigint, held: bigint) => ({
    limitMicroPkr: limit,
    spentMicroPkr: spent,
    heldMicroPkr: held,
  });

  interface Situation {
    readonly title: string;
    /** Of the key: 100 unless said, null for none. */
    readonly limit?: bigint | null;
    readonly deposited?: bigint;
    readonly keySpent?: bigint;
    readonly organizationSpent?: bigint;
    /** Held by another request of the key, and by one of another key of the organisation. */
    readonly keyHolds?: bigint;
    readonly othersHold?: bigint;
    /** Cost of a request of the key that has finished and is not settled. */
    readonly finished?: bigint;
    readonly fields: AdmissionFields;
    readonly expected: AdmissionDecision;
  }
  const keyExhausted = (...given: Parameters<typeof figures>): AdmissionDecision => ({
    kind: 'key_credit_exhausted',
    ...figures(...given),
  });
  const budgetExhausted = (...given: Parameters<typeof figures>): AdmissionDecision => ({
    kind: 'budget_exhausted',
    ...figures(...given),
  });
  const held = (
    account: 'key' | 'organization',
    ...given: Parameters<typeof figures>
  ): AdmissionDecision => ({ kind: 'credit_held', account, ...figures(...given) });

  const SITUATIONS: readonly Situation[] = [
    { title: 'what is wanted, where it is free', fields: { least: 10n, most: 99n }, expected: granted(99n) },
    { title: 'exactly what is free', fields: { least: 10n, most: 100n }, expected: granted(100n) },
    {
      title: 'what is free of the key, where less',
      fields: { least: 10n, most: 101n },
      expected: granted(100n),
    },
    {
      title: 'what is free of the key beside what is spent, final and held',
      keySpent: 20n,
      finished: 7n,
      keyHolds: 30n,
      fields: { least: 43n, most: 99n },
      expected: granted(43n),
    },
    {
      title: 'a refusal because of requests in flight, for one more than is free',
      keySpent: 20n,
      finished: 7n,
      keyHolds: 30n,
      fields: { least: 44n, most: 99n },
      expected: held('key', 100n, 27n, 30n),
    },
    {
      title: 'the same up to what is not spent',
      keySpent: 20n,
      keyHolds: 30n,
      fields: { least: 80n },
      expected: held('key', 100n, 20n, 30n),
    },
    {
      title: 'a refusal because it is spent, for one more',
      keySpent: 20n,
      keyHolds: 30n,
      fields: { least: 81n },
      expected: keyExhausted(100n, 20n, 30n),
    },
    {
      title: 'the same where a finished request is not settled yet',
      finished: 20n,
      keyHolds: 30n,
      fields: { least: 81n },
      expected: keyExhausted(100n, 20n, 30n),
    },
    { title: 'the last of the key for nothing', keySpent: 99n, fields: {}, expected: granted(0n) },
    {
      title: 'nothing for nothing once it is used up',
      keySpent: 100n,
      fields: {},
      expected: keyExhausted(100n, 100n, 0n),
    },
    {
      title: 'the same beyond the limit',
      keySpent: 101n,
      fields: {},
      expected: keyExhausted(100n, 101n, 0n),
    },
    {
      title: 'the same by a finished request',
      finished: 100n,
      fields: {},
      expected: keyExhausted(100n, 100n, 0n),
    },
    { title: 'nothing for nothing where all is held', keyHolds: 100n, fields: {}, expected: granted(0n) },
    {
      title: 'what is wanted, without a limit',
      limit: null,
      keySpent: 200n,
      fields: { least: 1n, most: 500n },
      expected: granted(500n),
    },
    {
      title: 'what is free of the organisation, where less',
      limit: null,
      deposited: 100n,
      organizationSpent: 20n,
      finished: 5n,
      othersHold: 25n,
      fields: { least: 50n, most: 99n },
      expected: granted(50n),
    },
    {
      title: 'a refusal because of requests in flight of the organisation',
      limit: null,
      deposited: 100n,
      organizationSpent: 20n,
      finished: 5n,
      othersHold: 25n,
      fields: { least: 51n, most: 99n },
      expected: held('organization', 100n, 25n, 25n),
    },
    {
      title: 'a refusal because the budget is spent',
      deposited: 100n,
      organizationSpent: 20n,
      finished: 5n,
      othersHold: 25n,
      fields: { least: 76n, most: 99n },
      expected: budgetExhausted(100n, 25n, 25n),
    },
    {
      title: 'a refusal because the budget is overdrawn, also for nothing',
      deposited: 100n,
      organizationSpent: 101n,
      fields: {},
      expected: budgetExhausted(100n, 101n, 0n),
    },
    {
      title: 'the key’s refusal before the organisation’s',
      deposited: 10n,
      keySpent: 100n,
      fields: { least: 50n },
      expected: keyExhausted(100n, 100n, 0n),
    },
    {
      title: 'that it is spent rather than that it is held, whoseever it is',
      deposited: 40n,
      keyHolds: 20n,
      organizationSpent: 5n,
      fields: { least: 90n },
      expected: budgetExhausted(40n, 5n, 20n),
    },
    {
      title: 'no regard for the balance with the organisation’s own provider key',
      deposited: 0n,
      organizationSpent: 50n,
      fields: { least: 10n, most: 90n, isByok: true },
      expected: granted(90n),
    },
    {
      title: 'but for the key’s credit',
      deposited: 0n,
      keySpent: 50n,
      fields: { least: 51n, isByok: true },
      expected: keyExhausted(100n, 50n, 0n),
    },
    {
      title: 'nothing for nothing once the key is used up, also with the organisation’s own provider key',
      deposited: 0n,
      keySpent: 100n,
      fields: { isByok: true },
      expected: keyExhausted(100n, 100n, 0n),
    },
    {
      title: 'a refusal for the largest amount there is',
      fields: { least: 2n ** 63n - 1n },
      expected: keyExhausted(100n, 0n, 0n),
    },
    {
      title: 'the same of the organisation',
      limit: null,
      deposited: 100n,
      fields: { least: 2n ** 63n - 1n },
      expected: budgetExhausted(100n, 0n, 0n),
    },
    {
      title: 'that the ledger has closed the time of its id',
      fields: { requestId: newRequestId(Date.UTC(2001, 5)) },
      expected: { kind: 'id_is_closed' },
    },
  ];

  for (const { title, fields, expected, ...given } of SITUATIONS) {
    it(`decides ${expected.kind}: ${title}`, async () => {
      const { database } = test;
      await test.owner.run(closeWeeks);
      const { limit = 100n, deposited = 1_000n } = given;
      const key = await issueKey(database, {
        depositedMicroPkr: 10_000n,
        ...(limit === null ? {} : { creditLimitMicroPkr: 10_000n }),
      });
      const { organizationId } = key;
      const other = await issueKey(database, { organizationId });
      const done = request(key.id, { least: given.finished ?? 0n, most: 500n });
      await admit(database, organizationId, [
        done,
        request(key.id, { least: given.keyHolds ?? 0n }),
        request(other.id, { least: given.othersHold ?? 0n }),
      ]);
      const finished = { requestId: done.requestId, costMicroPkr: given.finished ?? 0n };
      assert.deepEqual(await admit(database, organizationId, [], [finished]), []);
      const { keySpent = 0n, organizationSpent = 0n } = given;
      const accounts = { keyId: key.id, keySpent, limit, organizationId, organizationSpent, deposited };
      await database.run(setAccounts, accounts);
      const before = await moneyOf(database, key.id);
      // In a batch, among others that take nothing; then alone, where the first decision changed nothing.
      const none = () => request(other.id, { isByok: true });
      const wanted = request(key.id, fields);
      const batch = await admit(database, organizationId, [none(), wanted, none()]);
      assert.deepEqual(batch[1], expected);
      if (expected.kind !== 'admitted') assert.deepEqual(await ask(key, fields), expected);
      const amount = expected.kind === 'admitted' ? expected.grantedMicroPkr : 0n;
      assert.deepEqual(await moneyOf(database, key.id), {
        ...before,
        keyHeld: before.keyHeld + amount,
        balanceHeld: before.balanceHeld + amount,
        holds: before.holds + (expected.kind === 'admitted' ? 1n : 0n),
      });
    });
  }

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
    await database.run(revoke, { keyId: revoked.id });
    const expired = await issueKey(database, { organizationId });
    await database.run(expire, { keyId: expired.id });
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
    await test.database.run(revoke, { keyId: key.id });
    isRevoked = true;
    await Promise.all(workers);
    assert.equal(admittedAfter, 0);
  });
});

function text(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value).padStart(20, '0') : value;
}

const bench = await useBench();

describe('credit under concurrency', () => {
  before(async () => {
    bench.provider.script = json(completion('x', { prompt: 1, completion: 1 }));
  });

  for (const [title, money] of [
    ['a key', { creditLimitMicroPkr: 10n * 6_160n + 6_159n }],
    ['an organisation', { depositedMicroPkr: 10n * 6_160n + 6_159n }],
  ] as const) {
    it(`429 credit_held for all but the ten of fifty at once that the credit of ${title} is worth`, async () => {
      const key = await issueKey(bench.database, money);
      // 8 tokens of prompt and 10 of answer: 6,160 micro-PKR. None of them ends before all are judged.
      const { promise: allJudged, resolve } = Promise.withResolvers<void>();
      bench.provider.script = async (response, asked) => {
        await allJudged;
        await json(completion('x', { prompt: 8, completion: 10 }))(response, asked);
      };
      let refused = 0;
      const codes = await Promise.all(
        Array.from({ length: 50 }, async () => {
          const response = await bench.gateway.chat(key.secret, { max_tokens: 10 });
          const { error } = (await response.json()) as { error?: { code: string } };
          if (error) refused += 1;
          if (refused === 40) resolve();
          return error?.code ?? response.status;
        }),
      );
      assert.equal(codes.filter((code) => code === 200).length, 10);
      assert.equal(codes.filter((code) => code === 'credit_held').length, 40);
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
        async many(query, ...given) {
          if (query.name === 'gateway-admit') await database.run(change, { keyId: key.id });
          return database.many(query, ...given);
        },
      };
      await using gateway = await startTestGateway(changing);
      const asked = bench.provider.asked.length;
      const response = await gateway.chat(key.secret);
      await assertError(response, { status: 401, code, type: 'authentication_error' });
      assert.equal(bench.provider.asked.length, asked);
      assert.deepEqual(
        gateway.journal.records.map(({ status, refusal, isHeld }) => [status, refusal, isHeld]),
        [[401, code, false]],
      );
      assert.equal((await moneyOf(database, key.id)).holds, 0n);
    });
  }
});
