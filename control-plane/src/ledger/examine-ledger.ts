import { pkrInWords } from '@gatehouse/contract';
import { type Database, type Queryable, SERVICE_ROLE } from '@gatehouse/store';
import * as queries from './queries.ts';

// Every sum that the ledger keeps is counted again from the rows it is the sum of. All of it is looked at as it was at
// one moment, so that it has to be right however much is going on.
//
// Not checked, because it need not hold: that a key has spent no more than its limit, or an organisation no more than
// its deposits (a provider may bill beyond what was reserved, and that is recorded as it is), and that the limits of an
// organisation's keys together are within its deposits (a mint does not ask for that, only a change of a limit does).

/** Something about the ledger that is not as it must be. */
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
  readonly organizationId: string | null;
  readonly keyId: string | null;
  /** What is wrong, in one line. */
  readonly sentence: string;
}

export interface Examination {
  readonly schemaStep: number;
  readonly organizations: bigint;
  readonly keys: bigint;
  /** Settlements that have a row, and those that are folded into sums. */
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
  if (!counts) throw new Error('counting said nothing');
  return {
    schemaStep: counts.schema_step,
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
      const named = `the key ${row.key_id} of the organisation ${row.organization_id}`;
      findings.push({
        check,
        organizationId: row.organization_id,
        keyId: row.key_id,
        sentence:
          row.kept_micro_pkr === null
            ? `${named} does not exist, and has ${rows} of ${amount(row.rows_micro_pkr)}`
            : `${named} says it has ${verb} ${amount(row.kept_micro_pkr)}, and its ${rows} come to ${amount(row.rows_micro_pkr)}`,
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
      const named = `the organisation ${row.organization_id}`;
      findings.push({
        check,
        organizationId: row.organization_id,
        keyId: null,
        sentence:
          row.kept_micro_pkr === null
            ? `${named} has no balance, and ${rows} of ${amount(row.rows_micro_pkr)}`
            : `${named} says it has ${verb} ${amount(row.kept_micro_pkr)}, and its ${rows} come to ${amount(row.rows_micro_pkr)}`,
      });
    }
  }
  return findings;
}

async function overdueHolds(snapshot: Queryable): Promise<Finding[]> {
  return (await snapshot.many(queries.listOverdueHolds)).map((row) => ({
    check: 'overdue_holds',
    organizationId: row.organization_id,
    keyId: row.key_id,
    sentence: `the key ${row.key_id} of the organisation ${row.organization_id} has ${row.holds === 1n ? '1 hold' : `${row.holds} holds`} of ${amount(row.amount_micro_pkr)} past the deadline, the oldest since ${row.oldest_deadline}: a gateway that runs and is up to date with its journal releases them`,
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
  if (!row?.has_this_week || !row.has_next_week) {
    findings.push(
      about(
        `the ledger has no partition for ${row?.has_this_week ? 'next' : 'this'} week: the API makes them while it runs`,
      ),
    );
  }
  if (row && row.strays > 0n) {
    findings.push(
      about(
        `${row.strays === 1n ? '1 settlement is' : `${row.strays} settlements are`} in no week's partition: the clock of a gateway is wrong, or no API has run for weeks`,
      ),
    );
  }
  return findings;
}

async function rights(snapshot: Queryable): Promise<Finding[]> {
  return (await snapshot.many(queries.listWrongRights, [SERVICE_ROLE])).map((row) => ({
    check: 'rights',
    organizationId: null,
    keyId: null,
    sentence: `${SERVICE_ROLE} ${row.is_excess ? 'has' : 'lacks'} the right to ${row.right} on ${row.what}, which Gatehouse ${row.is_excess ? 'does not grant' : 'grants'}`,
  }));
}

function amount(microPkr: bigint | null): string {
  return pkrInWords(microPkr ?? 0n);
}
