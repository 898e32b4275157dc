// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';
import type { KeyBudget } from './schemas.ts';

/** The input of `getBudget`. */
export interface GetBudgetInput {
  /** Rows in the page; more than 200 is lowered to 200. At least 1; `50` unless given. */
  limit?: number | undefined;
  /** Rows to skip before the page. 0 to 9007199254740991; `0` unless given. */
  offset?: number | undefined;
}

/** The reply of `getBudget`. */
export interface GetBudgetReply {
  /** Deposits, minus withdrawals. In PKR. */
  readonly deposited_pkr: number;
  /** The cost of finished requests, settled or not. In PKR. */
  readonly spent_pkr: number;
  /** The amount that requests in flight hold. In PKR. */
  readonly held_pkr: number;
  /** deposited_pkr - spent_pkr - held_pkr. Negative if providers billed more than was held. In PKR. */
  readonly available_pkr: number;
  /** The sum of the limits of the active keys. A key without a limit adds nothing. In PKR. */
  readonly key_limits_pkr: number;
  /**
   * By how much the limits of the active keys can still grow: deposited_pkr - key_limits_pkr, at least 0.
   * In PKR.
   */
  readonly headroom_pkr: number;
  /** All revoked keys together. */
  readonly revoked_keys: {
    /** In PKR. */
    readonly spent_pkr: number;
    /** Held by requests that were in flight when their key was revoked. In PKR. */
    readonly held_pkr: number;
  };
  /** Active keys. */
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
  readonly keys: readonly KeyBudget[];
}

/**
 * GET /budget: The organisation's deposits, spend and holds, and the same of each active key, newest
 * first. All figures are of one moment. The active keys of all pages and revoked_keys add up to the
 * organisation.
 */
export const getBudget = {
  name: 'getBudget',
  method: 'GET',
  path: '/budget',
  query: ['limit', 'offset'],
  headers: {},
  body: undefined,
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['deposited_pkr', 'spent_pkr', 'held_pkr', 'available_pkr', 'key_limits_pkr', 'headroom_pkr', 'revoked_keys', 'total', 'limit', 'offset', 'keys'],
} as const satisfies Call;
