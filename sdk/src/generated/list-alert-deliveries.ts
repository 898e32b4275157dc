// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';
import type { AlertDelivery } from './schemas.ts';

/** The input of `listAlertDeliveries`. */
export interface ListAlertDeliveriesInput {
  /** Rows in the page; more than 200 is lowered to 200. At least 1; `50` unless given. */
  limit?: number | undefined;
  /** Rows to skip before the page. 0 to 9007199254740991; `0` unless given. */
  offset?: number | undefined;
}

/** The reply of `listAlertDeliveries`. */
export interface ListAlertDeliveriesReply {
  readonly deliveries: readonly AlertDelivery[];
}

/** GET /alert-deliveries: The alerts of the last week and whether they arrived, newest first. */
export const listAlertDeliveries = {
  name: 'listAlertDeliveries',
  method: 'GET',
  path: '/alert-deliveries',
  query: ['limit', 'offset'],
  headers: {},
  body: undefined,
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['deliveries'],
} as const satisfies Call;
