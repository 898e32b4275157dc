// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';

/** The input of `deleteAlertChannel`. */
export interface DeleteAlertChannelInput {
  channel_id: string;
}

/** The reply of `deleteAlertChannel`. */
export interface DeleteAlertChannelReply {
  readonly message: string;
}

/**
 * DELETE /alert-channels/{channel_id}: Send no more alerts there. What is on its way is dropped, and its
 * deliveries are no longer listed.
 */
export const deleteAlertChannel = {
  name: 'deleteAlertChannel',
  method: 'DELETE',
  path: '/alert-channels/{channel_id}',
  query: [],
  headers: {},
  body: undefined,
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['message'],
} as const satisfies Call;
