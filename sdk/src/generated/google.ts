// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';
import type { Account } from './schemas.ts';

/** The input of `google`. */
export interface GoogleInput {
  /** The ID token that Google issued to the client id of this service, unchanged. */
  credential: string;
  /**
   * For a new account, as in `register`. Ignored for an existing account. 1 to 255 characters; matches
   * `^[^<>]*$`.
   */
  organization_name?: string | undefined;
  /**
   * The nonce that the page passed to Google. The token must contain it, and is then accepted only once.
   */
  nonce?: string | undefined;
}

/** The reply of `google`. */
export type GoogleReply = Account;

/** POST /auth/google: Sign in with a Google account. A new account creates or joins an organisation. */
export const google = {
  name: 'google',
  method: 'POST',
  path: '/auth/google',
  query: [],
  headers: {},
  body: ['credential', 'organization_name', 'nonce'],
  needsSession: false,
  setsCookies: true,
  exports: [],
  reply: ['user', 'organization'],
} as const satisfies Call;
