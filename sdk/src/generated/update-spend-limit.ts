// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';
import type { SpendLimit } from './schemas.ts';

/** The input of `updateSpendLimit`. */
export interface UpdateSpendLimitInput {
  limit_id: string;
  /** At most 6 decimals; 0 stops at once. At least 0. In PKR. */
  limit_pkr?: number | undefined;
  /**
   * `refuse`: a request that would pass the limit is refused. `alert`: it is served, and only alerts are
   * sent.
   */
  mode?: 'refuse' | 'alert' | undefined;
  /**
   * When alerts are sent, in per cent of the limit: each once, sorted. One is sent at 100 whatever this
   * says. At most 100 entries.
   */
  alert_at?: readonly number[] | undefined;
}

/** The reply of `updateSpendLimit`. */
export type UpdateSpendLimitReply = SpendLimit;

/**
 * PATCH /spend-limits/{limit_id}: Change the amount, the mode or the thresholds of a spend limit. It
 * holds for the open window.
 */
export const updateSpendLimit = {
  name: 'updateSpendLimit',
  method: 'PATCH',
  path: '/spend-limits/{limit_id}',
  query: [],
  headers: {},
  body: ['limit_pkr', 'mode', 'alert_at'],
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['id', 'scope', 'window', 'time_zone', 'limit_pkr', 'mode', 'alert_at', 'spent_pkr', 'held_pkr', 'remaining_pkr', 'window_started_at', 'window_ends_at', 'created_by', 'created_at', 'updated_at'],
} as const satisfies Call;
