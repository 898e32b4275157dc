import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KeyId, OrganizationId } from '@gatehouse/contract';
import { type NoParameters, sql, statement } from '@gatehouse/store';
import { useTestDatabase } from '@gatehouse/store/testing';
import { newRequestId } from '../exchange/request-id.ts';
import { admit } from '../testing/admit.ts';
import { issueKey, moneyOf } from '../testing/test-gateway.ts';
import {
  type AdmissionFields,
  budgetExhausted,
  granted,
  held,
  keyExhausted,
  request,
} from './admission.fixture.ts';
import type { AdmissionDecision } from './queries.ts';

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

interface Situation {
  readonly title: string;
  /** The limit of the key: 100 unless set, null for none. */
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

const test = await useTestDatabase();

describe('admit', () => {
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
      if (expected.kind !== 'admitted') {
        assert.deepEqual(await admit(database, organizationId, [request(key.id, fields)]), [expected]);
      }
      const amount = expected.kind === 'admitted' ? expected.grantedMicroPkr : 0n;
      assert.deepEqual(await moneyOf(database, key.id), {
        ...before,
        keyHeld: before.keyHeld + amount,
        balanceHeld: before.balanceHeld + amount,
        holds: before.holds + (expected.kind === 'admitted' ? 1n : 0n),
      });
    });
  }
});
