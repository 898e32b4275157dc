import { type KeyId, type OrganizationId, pkrInWords } from '@gatehouse/contract';
import { type Database, type Queryable, SERVICE_ROLE } from '@gatehouse/store';
import * as queries from './queries.ts';

// Recomputes every sum that the ledger stores from the rows behind it. Everything is read in one snapshot, so the sums must
// agree under any load.
//
// Three things are not checked, because they need not hold: that a key has spent no more than its limit, that an
// organisation has spent no more than its deposits (a provider may bill more than was reserved, and that is recorded), and
// that the limits of an organisation's keys are within its deposits (only a change of a limit checks that, a mint does not).

/** A way in which the ledger is wrong. */
export interface Finding {
  readonly check:
    | 'key_spend'
    | 'key_holds'
    | 'key_unsettled'
    | 'organization_deposits'
    | 'organization_spend'
    | 'organization_holds'
    | 'organization_unsettled'
    | 'overdue_holds'
    | 'partitions'
    | 'rights';
  readonly organizationId: OrganizationId | null;
  readonly keyId: KeyId | null;
  /** One line. */
  readonly sentence: string;
}

export interface Examination {
  readonly schemaStep: number;
  readonly organizations: bigint;
  readonly keys: bigint;
  /** Settlements that still have a row; `folded` are those that were added up and dropped. */
  readonly settlements: bigint;
  readonly folded: bigint;
  readonly holds: bigint;
  readonly findings: readonly Finding[];
}

/** Examines the ledger. Changes nothing. */
export async function examineLedger(database: Database): Promise<Examination> {
  await using snapshot = await database.snapshot();
  await snapshot.run(queries.lockPartitions);
  const counts = await snapshot.one(queries.countAll);
  if (!counts) throw new Error('the count returned no row');
  return {
    schemaStep: counts.schemaStep,
    organizations: counts.organizations,
    keys: counts.keys,
    settlements: counts.settlements,
    folded: counts.folded,
    holds: counts.holds,
    findings: [
      ...(await sumsOfKeys(snapshot)),
      ...(await sumsOfOrganizations(snapshot)),
      ...(await overdueHolds(snapshot)),
      ...(await partitions(snapshot)),
      ...(await rights(snapshot)),
    ],
  };
}

async function sumsOfKeys(snapshot: Queryable): Promise<Finding[]> {
  const checks = [
    ['key_spend', queries.listWrongKeySpend, 'spent', 'settlements'],
    ['key_holds', queries.listWrongKeyHolds, 'held', 'holds'],
    ['key_unsettled', queries.listWrongKeyUnsettled, 'unsettled', 'finished holds'],
  ] as const;
  const findings: Finding[] = [];
  for (const [check, query, verb, rows] of checks) {
    for (const row of await snapshot.many(query)) {
      const named = `the key ${row.keyId} of the organisation ${row.organizationId}`;
      findings.push({
        check,
        organizationId: row.organizationId,
        keyId: row.keyId,
        sentence:
          row.keptMicroPkr === null
            ? `${named} does not exist, and has ${rows} of ${amount(row.rowsMicroPkr)}`
            : `${named} says it has ${verb} ${amount(row.keptMicroPkr)}, and its ${rows} come to ${amount(row.rowsMicroPkr)}`,
      });
    }
  }
  return findings;
}

async function sumsOfOrganizations(snapshot: Queryable): Promise<Finding[]> {
  const checks = [
    ['organization_deposits', queries.listWrongDeposits, 'deposited', 'deposits'],
    ['organization_spend', queries.listWrongSpend, 'spent', 'settlements'],
    ['organization_holds', queries.listWrongHolds, 'held', 'holds'],
    ['organization_unsettled', queries.listWrongUnsettled, 'unsettled', 'finished holds'],
  ] as const;
  const findings: Finding[] = [];
  for (const [check, query, verb, rows] of checks) {
    for (const row of await snapshot.many(query)) {
      const named = `the organisation ${row.organizationId}`;
      findings.push({
        check,
        organizationId: row.organizationId,
        keyId: null,
        sentence:
          row.keptMicroPkr === null
            ? `${named} has no balance, and ${rows} of ${amount(row.rowsMicroPkr)}`
            : `${named} says it has ${verb} ${amount(row.keptMicroPkr)}, and its ${rows} come to ${amount(row.rowsMicroPkr)}`,
      });
    }
  }
  return findings;
}

async function overdueHolds(snapshot: Queryable): Promise<Finding[]> {
  return (await snapshot.many(queries.listOverdueHolds)).map((row) => ({
    check: 'overdue_holds',
    organizationId: row.organizationId,
    keyId: row.keyId,
    sentence: `the key ${row.keyId} of the organisation ${row.organizationId} has ${row.holds === 1n ? '1 hold' : `${row.holds} holds`} of ${amount(row.amountMicroPkr)} past the deadline, the oldest since ${row.oldestDeadline}: a gateway that runs and is up to date with its journal releases them`,
  }));
}

async function partitions(snapshot: Queryable): Promise<Finding[]> {
  const row = await snapshot.one(queries.findPartitions);
  const about = (sentence: string): Finding => ({
    check: 'partitions',
    organizationId: null,
    keyId: null,
    sentence,
  });
  const findings: Finding[] = [];
  if (!row?.hasThisWeek || !row.hasNextWeek) {
    findings.push(
      about(
        `the ledger has no partition for ${row?.hasThisWeek ? 'next' : 'this'} week: the API makes them while it runs`,
      ),
    );
  }
  if (row && row.misplaced > 0n) {
    findings.push(
      about(
        `${row.misplaced === 1n ? '1 settlement is' : `${row.misplaced} settlements are`} in no week's partition: the clock of a gateway is wrong, or no API has run for weeks`,
      ),
    );
  }
  return findings;
}

async function rights(snapshot: Queryable): Promise<Finding[]> {
  return (await snapshot.many(queries.listWrongRights, { role: SERVICE_ROLE })).map((row) => ({
    check: 'rights',
    organizationId: null,
    keyId: null,
    sentence: `${SERVICE_ROLE} ${row.isExcess ? 'has' : 'lacks'} the right to ${row.right} on ${row.what}, which Gatehouse ${row.isExcess ? 'does not grant' : 'grants'}`,
  }));
}

function amount(microPkr: bigint | null): string {
  return pkrInWords(microPkr ?? 0n);
}
