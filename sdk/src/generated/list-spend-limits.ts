// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';
import type { SpendLimit } from './schemas.ts';

/** `listSpendLimits` takes no input. */
export type ListSpendLimitsInput = { readonly [name: string]: never };

/** The reply of `listSpendLimits`. */
export interface ListSpendLimitsReply {
  readonly limits: readonly SpendLimit[];
}

/**
 * GET /spend-limits: The spend limits, newest first, with what their open windows have spent and hold.
 */
export const listSpendLimits = {
  name: 'listSpendLimits',
  method: 'GET',
  path: '/spend-limits',
  query: [],
  headers: {},
  body: undefined,
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['limits'],
} as const satisfies Call;
