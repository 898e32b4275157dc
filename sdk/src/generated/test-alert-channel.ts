// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';

/** The input of `testAlertChannel`. */
export interface TestAlertChannelInput {
  channel_id: string;
}

/** The reply of `testAlertChannel`. */
export interface TestAlertChannelReply {
  readonly delivery_id: string;
}

/**
 * POST /alert-channels/{channel_id}/test: Send an `alert.test`, as an alert is sent. The list of
 * deliveries shows how it went.
 */
export const testAlertChannel = {
  name: 'testAlertChannel',
  method: 'POST',
  path: '/alert-channels/{channel_id}/test',
  query: [],
  headers: {},
  body: undefined,
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['delivery_id'],
} as const satisfies Call;
