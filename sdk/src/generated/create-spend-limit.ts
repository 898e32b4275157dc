// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';
import type { SpendLimit } from './schemas.ts';

/** The input of `createSpendLimit`. */
export interface CreateSpendLimitInput {
  scope: {
    kind: 'organization' | 'project' | 'key' | 'member' | 'metadata';
    /** The project’s, key’s or member’s. A limit of a member is of all keys that the member minted. */
    id?: string | undefined;
    /** The name of the metadata, in any case. */
    name?: string | undefined;
    /** The value of the metadata; null: each value has a window for itself. */
    value?: string | null | undefined;
  };
  window: 'hour' | 'day' | 'week' | 'month' | 'lifetime';
  /** `UTC` unless given. */
  time_zone?: string | undefined;
  /** At most 6 decimals; 0 stops at once. At least 0. In PKR. */
  limit_pkr: number;
  /**
   * `refuse`: a request that would pass the limit is refused. `alert`: it is served, and only alerts are
   * sent. `refuse` unless given.
   */
  mode?: 'refuse' | 'alert' | undefined;
  /**
   * When alerts are sent, in per cent of the limit: each once, sorted. One is sent at 100 whatever this
   * says. At most 100 entries; `80,100` unless given.
   */
  alert_at?: readonly number[] | undefined;
}

/** The reply of `createSpendLimit`. */
export type CreateSpendLimitReply = SpendLimit;

/**
 * POST /spend-limits: Limit what may be spent in a window of the calendar. It counts requests that are
 * admitted after it was made.
 */
export const createSpendLimit = {
  name: 'createSpendLimit',
  method: 'POST',
  path: '/spend-limits',
  query: [],
  headers: {},
  body: ['scope', 'window', 'time_zone', 'limit_pkr', 'mode', 'alert_at'],
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['id', 'scope', 'window', 'time_zone', 'limit_pkr', 'mode', 'alert_at', 'spent_pkr', 'held_pkr', 'remaining_pkr', 'window_started_at', 'window_ends_at', 'created_by', 'created_at', 'updated_at'],
} as const satisfies Call;
