import { type Queryable, statement } from '@gatehouse/store';

/** A request to be admitted, and what it may hold: as much of `most` as is free, but not less than `least`. */
export interface Admission {
  readonly requestId: string;
  readonly keyId: string;
  readonly leastMicroPkr: bigint;
  readonly mostMicroPkr: bigint;
  /** Whether it goes out with the organisation's own provider key, and the balance does not bind it. */
  readonly isByok: boolean;
  /** How long the hold may stand before it counts as abandoned. */
  readonly holdMs: number;
}

/** How an account stands that does not suffice. What finished requests cost counts as spent, settled or not. */
export interface AccountFigures {
  readonly limitMicroPkr: bigint;
  readonly spentMicroPkr: bigint;
  /** By requests in flight. */
  readonly heldMicroPkr: bigint;
}

export type AdmissionDecision =
  | { readonly kind: 'admitted'; readonly grantedMicroPkr: bigint }
  | { readonly kind: 'revoked' | 'expired' | 'id_is_closed' }
  | ({ readonly kind: 'key_credit_exhausted' | 'budget_exhausted' } & AccountFigures)
  | ({ readonly kind: 'credit_held'; readonly account: 'key' | 'organization' } & AccountFigures);

/** A request that has finished, recorded, and what it cost. */
export interface FinishedHold {
  readonly requestId: string;
  readonly costMicroPkr: bigint;
}

interface DecisionRow {
  readonly decision: AdmissionDecision['kind'];
  readonly grantedMicroPkr: bigint | null;
  readonly account: 'key' | 'organization' | null;
  readonly limitMicroPkr: bigint | null;
  readonly spentMicroPkr: bigint | null;
  readonly heldMicroPkr: bigint | null;
}

const admitStatement = statement<DecisionRow>(
  'gateway-admit',
  `SELECT decision, granted_micro_pkr AS "grantedMicroPkr", account, limit_micro_pkr AS "limitMicroPkr",
          spent_micro_pkr AS "spentMicroPkr", held_micro_pkr AS "heldMicroPkr"
   FROM admit_requests($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);

/**
 * Lowers the holds of finished requests of an organisation to what they cost, and then judges others of it, each on
 * its key as it is now and after those before it (0013-admission.sql). All of it or nothing. The decisions are in the
 * order of the admissions.
 */
export async function admit(
  database: Queryable,
  organizationId: string,
  admissions: readonly Admission[],
  finished: readonly FinishedHold[] = [],
): Promise<AdmissionDecision[]> {
  const rows = await database.many(admitStatement, [
    organizationId,
    finished.map(({ requestId }) => requestId),
    finished.map(({ costMicroPkr }) => costMicroPkr),
    admissions.map(({ requestId }) => requestId),
    admissions.map(({ keyId }) => keyId),
    admissions.map(({ leastMicroPkr }) => leastMicroPkr),
    admissions.map(({ mostMicroPkr }) => mostMicroPkr),
    admissions.map(({ isByok }) => isByok),
    admissions.map(({ holdMs }) => holdMs),
  ]);
  if (rows.length !== admissions.length) throw new Error('admit_requests left a request without a decision');
  return rows.map(decisionOf);
}

function decisionOf(row: DecisionRow): AdmissionDecision {
  const { decision: kind, account, limitMicroPkr, spentMicroPkr, heldMicroPkr } = row;
  if (kind === 'revoked' || kind === 'expired' || kind === 'id_is_closed') return { kind };
  if (kind === 'admitted') {
    if (row.grantedMicroPkr === null) throw new Error('admit_requests admitted without a hold');
    return { kind, grantedMicroPkr: row.grantedMicroPkr };
  }
  if (account === null || limitMicroPkr === null || spentMicroPkr === null || heldMicroPkr === null)
    throw new Error(`admit_requests decided ${kind} without figures`);
  const figures = { limitMicroPkr, spentMicroPkr, heldMicroPkr };
  return kind === 'credit_held' ? { kind, account, ...figures } : { kind, ...figures };
}
