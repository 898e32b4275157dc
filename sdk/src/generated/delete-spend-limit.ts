// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';

/** The input of `deleteSpendLimit`. */
export interface DeleteSpendLimitInput {
  limit_id: string;
}

/** The reply of `deleteSpendLimit`. */
export interface DeleteSpendLimitReply {
  readonly message: string;
}

/** DELETE /spend-limits/{limit_id}: Remove a spend limit. From the next request it binds nothing. */
export const deleteSpendLimit = {
  name: 'deleteSpendLimit',
  method: 'DELETE',
  path: '/spend-limits/{limit_id}',
  query: [],
  headers: {},
  body: undefined,
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['message'],
} as const satisfies Call;
