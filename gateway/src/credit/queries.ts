import type { KeyId, OrganizationId, RequestId } from '@gatehouse/contract';
import { type Queryable, sql, statement } from '@gatehouse/store';
import type { AccountFigures, SpendLimitInWords } from '../errors/credit-errors.ts';

/** A request to be admitted. It may hold any amount from `least` to `most`. */
export interface Admission {
  readonly requestId: RequestId;
  readonly organizationId: OrganizationId;
  readonly keyId: KeyId;
  readonly leastMicroPkr: bigint;
  readonly mostMicroPkr: bigint;
  /** True if it goes out with the organisation's own provider key; the balance then does not bind it. */
  readonly isByok: boolean;
  /** How long the hold may stand before it counts as abandoned. */
  readonly holdMs: number;
  /** The request's labels, which spend limits may be of. */
  readonly labels?: ReadonlyMap<string, string>;
  /** The versions of what was presumed; undefined where all was read for this request. */
  readonly presumed?: Presumed | undefined;
}

/** The versions of the facts that a request was prepared with before they were read for it. */
export interface Presumed {
  readonly catalogueVersion: bigint;
  readonly vaultRevision: bigint;
  /** The revision of the key's facts. */
  readonly factsRevision: bigint;
}

export type AdmissionDecision =
  | {
      readonly kind: 'admitted';
      readonly grantedMicroPkr: bigint;
      /** The windows of spend limits that the request belongs to, as PostgreSQL writes an array; undefined where there are none. */
      readonly windowIds?: string;
    }
  /** The presumed facts have changed; nothing was judged. */
  | { readonly kind: 'stale' }
  | { readonly kind: 'revoked' | 'expired' | 'id_is_closed' }
  | ({ readonly kind: 'key_credit_exhausted' | 'budget_exhausted' } & AccountFigures)
  | ({ readonly kind: 'spend_limit_reached'; readonly spendLimit: SpendLimitInWords } & AccountFigures)
  | ({ readonly kind: 'credit_held'; readonly account: HeldAccount } & AccountFigures);

/** The account whose credit requests in flight hold. */
export type HeldAccount = 'key' | 'organization' | SpendLimitInWords;

/** A request that has finished, is recorded, and what it cost. */
export interface FinishedHold {
  readonly requestId: RequestId;
  readonly organizationId: OrganizationId;
  readonly costMicroPkr: bigint;
}

interface DecisionRow {
  readonly decision: AdmissionDecision['kind'];
  readonly grantedMicroPkr: bigint | null;
  readonly account: 'key' | 'organization' | 'spend_limit' | null;
  readonly limitMicroPkr: bigint | null;
  readonly spentMicroPkr: bigint | null;
  readonly heldMicroPkr: bigint | null;
  readonly windowIds: string | null;
  readonly spendLimit: SpendLimitInWords | null;
}

export const admitBatchStatement = statement<
  {
    finishedIds: readonly RequestId[];
    finishedOrganizationIds: readonly OrganizationId[];
    costsMicroPkr: readonly bigint[];
    requestIds: readonly RequestId[];
    organizationIds: readonly OrganizationId[];
    keyIds: readonly KeyId[];
    leastMicroPkr: readonly bigint[];
    mostMicroPkr: readonly bigint[];
    areByok: readonly boolean[];
    holdMs: readonly number[];
    metadata: readonly (string | null)[];
    catalogueVersions: readonly (bigint | null)[];
    vaultRevisions: readonly (bigint | null)[];
    factsRevisions: readonly (bigint | null)[];
    lockTimeoutMs: number | null;
  },
  DecisionRow
>(
  'gateway-admit',
  sql`
    SELECT decision, granted_micro_pkr, account, limit_micro_pkr, spent_micro_pkr, held_micro_pkr, window_ids, spend_limit
    FROM admit(${'finishedIds'}, ${'finishedOrganizationIds'}, ${'costsMicroPkr'}, ${'requestIds'},
               ${'organizationIds'}, ${'keyIds'}, ${'leastMicroPkr'}, ${'mostMicroPkr'}, ${'areByok'}, ${'holdMs'},
               ${'metadata'}, ${'catalogueVersions'}, ${'vaultRevisions'}, ${'factsRevisions'}, ${'lockTimeoutMs'})`,
);

export interface AdmissionBatch {
  readonly finished: readonly FinishedHold[];
  readonly admissions: readonly Admission[];
  /** How long to wait for a locked row; as the session does unless given. */
  readonly lockTimeoutMs?: number | undefined;
}

/**
 * Lowers the holds of finished requests to what they cost, and then judges others, each after those before it
 * (functions/admit.sql). All of it or nothing. The decisions are in the order of the admissions.
 */
export async function admitBatch(
  database: Queryable,
  { finished, admissions, lockTimeoutMs }: AdmissionBatch,
): Promise<AdmissionDecision[]> {
  const rows = await database.many(admitBatchStatement, {
    finishedIds: finished.map(({ requestId }) => requestId),
    finishedOrganizationIds: finished.map(({ organizationId }) => organizationId),
    costsMicroPkr: finished.map(({ costMicroPkr }) => costMicroPkr),
    requestIds: admissions.map(({ requestId }) => requestId),
    organizationIds: admissions.map(({ organizationId }) => organizationId),
    keyIds: admissions.map(({ keyId }) => keyId),
    leastMicroPkr: admissions.map(({ leastMicroPkr }) => leastMicroPkr),
    mostMicroPkr: admissions.map(({ mostMicroPkr }) => mostMicroPkr),
    areByok: admissions.map(({ isByok }) => isByok),
    holdMs: admissions.map(({ holdMs }) => holdMs),
    metadata: admissions.map(({ labels }) =>
      labels && labels.size > 0 ? JSON.stringify(Object.fromEntries(labels)) : null,
    ),
    catalogueVersions: admissions.map(({ presumed }) => presumed?.catalogueVersion ?? null),
    vaultRevisions: admissions.map(({ presumed }) => presumed?.vaultRevision ?? null),
    factsRevisions: admissions.map(({ presumed }) => presumed?.factsRevision ?? null),
    lockTimeoutMs: lockTimeoutMs ?? null,
  });
  if (rows.length !== admissions.length) throw new Error('admit left a request without a decision');
  return rows.map(decisionOf);
}

function decisionOf(row: DecisionRow): AdmissionDecision {
  const { decision: kind, account, limitMicroPkr, spentMicroPkr, heldMicroPkr, spendLimit } = row;
  if (kind === 'stale' || kind === 'revoked' || kind === 'expired' || kind === 'id_is_closed')
    return { kind };
  if (kind === 'admitted') {
    if (row.grantedMicroPkr === null) throw new Error('admit admitted without a hold');
    const { grantedMicroPkr, windowIds } = row;
    return windowIds === null ? { kind, grantedMicroPkr } : { kind, grantedMicroPkr, windowIds };
  }
  if (account === null || limitMicroPkr === null || spentMicroPkr === null || heldMicroPkr === null)
    throw new Error(`admit decided ${kind} without figures`);
  const figures = { limitMicroPkr, spentMicroPkr, heldMicroPkr };
  if (account !== 'spend_limit') {
    if (kind === 'spend_limit_reached') throw new Error('admit named no spend limit');
    return kind === 'credit_held' ? { kind, account, ...figures } : { kind, ...figures };
  }
  if (spendLimit === null) throw new Error('admit named no spend limit');
  return kind === 'credit_held'
    ? { kind, account: spendLimit, ...figures }
    : { kind: 'spend_limit_reached', spendLimit, ...figures };
}
