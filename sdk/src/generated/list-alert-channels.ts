// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';
import type { AlertChannel } from './schemas.ts';

/** `listAlertChannels` takes no input. */
export type ListAlertChannelsInput = { readonly [name: string]: never };

/** The reply of `listAlertChannels`. */
export interface ListAlertChannelsReply {
  readonly channels: readonly AlertChannel[];
}

/** GET /alert-channels: The places that alerts of money and keys are sent to, newest first. */
export const listAlertChannels = {
  name: 'listAlertChannels',
  method: 'GET',
  path: '/alert-channels',
  query: [],
  headers: {},
  body: undefined,
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['channels'],
} as const satisfies Call;
