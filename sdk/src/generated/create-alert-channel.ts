// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';

/** The input of `createAlertChannel`. */
export interface CreateAlertChannelInput {
  kind: 'webhook' | 'email';
  /** The address of a webhook: https. */
  url?: string | undefined;
  /** ASCII. Trimmed and lower-cased. At most 254 characters. */
  address?: string | undefined;
}

/** The reply of `createAlertChannel`. */
export interface CreateAlertChannelReply {
  readonly id: string;
  readonly kind: 'webhook' | 'email';
  /** The address of a webhook. */
  readonly url?: string;
  /** The address that e-mails go to. */
  readonly address?: string;
  readonly created_by: {
    readonly id: string;
    readonly email: string;
  } | null;
  /** ISO 8601 with a numeric offset. */
  readonly created_at: string;
  /** The secret that verifies each message to a webhook. It is shown in this answer only. */
  readonly secret?: string;
}

/**
 * POST /alert-channels: Send alerts to a webhook, signed by Standard Webhooks, or to an e-mail address.
 */
export const createAlertChannel = {
  name: 'createAlertChannel',
  method: 'POST',
  path: '/alert-channels',
  query: [],
  headers: {},
  body: ['kind', 'url', 'address'],
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['id', 'kind', 'created_by', 'created_at'],
} as const satisfies Call;
