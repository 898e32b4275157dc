import type { KeyId } from '@gatehouse/contract';
import { sql, statement } from '@gatehouse/store';
import { newRequestId } from '../exchange/request-id.ts';
import type { AdmissionOfOne } from '../testing/admit.ts';
import type { AdmissionDecision } from './queries.ts';

type OfKey = { keyId: KeyId };

export const revokeKey = statement<OfKey>(
  'test-revoke',
  sql`UPDATE api_keys SET revoked_at = clock_timestamp() WHERE id = ${'keyId'}`,
);
export const expireKey = statement<OfKey>(
  'test-expire',
  sql`UPDATE api_keys SET expires_at = clock_timestamp() WHERE id = ${'keyId'}`,
);

export type AdmissionFields = Partial<AdmissionOfOne> & { readonly least?: bigint; readonly most?: bigint };

/** A request with a key; it wants exactly `least` unless `most` says more. */
export function request(
  keyId: KeyId,
  { least = 0n, most = least, ...others }: AdmissionFields = {},
): AdmissionOfOne {
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

export function granted(grantedMicroPkr: bigint): AdmissionDecision {
  return { kind: 'admitted', grantedMicroPkr };
}

type Figures = readonly [limit: bigint, spent: bigint, held: bigint];

function figures([limitMicroPkr, spentMicroPkr, heldMicroPkr]: Figures) {
  return { limitMicroPkr, spentMicroPkr, heldMicroPkr };
}

export function keyExhausted(...given: Figures): AdmissionDecision {
  return { kind: 'key_credit_exhausted', ...figures(given) };
}

export function budgetExhausted(...given: Figures): AdmissionDecision {
  return { kind: 'budget_exhausted', ...figures(given) };
}

export function held(account: 'key' | 'organization', ...given: Figures): AdmissionDecision {
  return { kind: 'credit_held', account, ...figures(given) };
}
