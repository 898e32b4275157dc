import type { KeyId, OrganizationId, RequestId } from '@gatehouse/contract';
import { type Queryable, sql, statement } from '@gatehouse/store';

/** A request to be admitted. It may hold any amount from `least` to `most`. */
export interface Admission {
  readonly requestId: RequestId;
  readonly keyId: KeyId;
  readonly leastMicroPkr: bigint;
  readonly mostMicroPkr: bigint;
  /** Whether it goes out with the organisation's own provider key; the balance then does not bind it. */
  readonly isByok: boolean;
  /** How long the hold may stand before it counts as abandoned. */
  readonly holdMs: number;
}

/** The account whose credit does not suffice. `spent` includes what finished requests cost, settled or not. */
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

/** A request that has finished, is recorded, and what it cost. */
export interface FinishedHold {
  readonly requestId: RequestId;
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

export const admitRequests = statement<
  {
    organizationId: OrganizationId;
    finishedIds: readonly RequestId[];
    costsMicroPkr: readonly bigint[];
    requestIds: readonly RequestId[];
    keyIds: readonly KeyId[];
    leastMicroPkr: readonly bigint[];
    mostMicroPkr: readonly bigint[];
    areByok: readonly boolean[];
    holdMs: readonly number[];
  },
  DecisionRow
>(
  'gateway-admit',
  sql`
    SELECT decision, granted_micro_pkr, account, limit_micro_pkr, spent_micro_pkr, held_micro_pkr
    FROM admit_requests(${'organizationId'}, ${'finishedIds'}, ${'costsMicroPkr'}, ${'requestIds'}, ${'keyIds'},
                        ${'leastMicroPkr'}, ${'mostMicroPkr'}, ${'areByok'}, ${'holdMs'})`,
);

/**
 * Lowers the holds of finished requests of an organisation to what they cost, and then judges others of it, each after
 * those before it (functions/admit_requests.sql). All of it or nothing. The decisions are in the order of the admissions.
 */
export async function admit(
  database: Queryable,
  organizationId: OrganizationId,
  admissions: readonly Admission[],
  finished: readonly FinishedHold[] = [],
): Promise<AdmissionDecision[]> {
  const rows = await database.many(admitRequests, {
    organizationId,
    finishedIds: finished.map(({ requestId }) => requestId),
    costsMicroPkr: finished.map(({ costMicroPkr }) => costMicroPkr),
    requestIds: admissions.map(({ requestId }) => requestId),
    keyIds: admissions.map(({ keyId }) => keyId),
    leastMicroPkr: admissions.map(({ leastMicroPkr }) => leastMicroPkr),
    mostMicroPkr: admissions.map(({ mostMicroPkr }) => mostMicroPkr),
    areByok: admissions.map(({ isByok }) => isByok),
    holdMs: admissions.map(({ holdMs }) => holdMs),
  });
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
