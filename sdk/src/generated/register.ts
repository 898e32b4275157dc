// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';
import type { Account } from './schemas.ts';

/** The input of `register`. */
export interface RegisterInput {
  /** ASCII. Trimmed and lower-cased. At most 254 characters. */
  email: string;
  /** Common passwords are rejected. Not trimmed. 8 to 256 characters. */
  password: string;
  /**
   * Trimmed; case-insensitive. A new name creates the organisation, an existing one joins it. 1 to 255
   * characters; matches `^[^<>]*$`.
   */
  organization_name: string;
}

/** The reply of `register`. */
export type RegisterReply = Account;

/**
 * POST /auth/register: Create an account. It creates the named organisation, or joins it where it exists.
 */
export const register = {
  name: 'register',
  method: 'POST',
  path: '/auth/register',
  query: [],
  headers: {},
  body: ['email', 'password', 'organization_name'],
  needsSession: false,
  setsCookies: false,
  exports: [],
  reply: ['user', 'organization'],
} as const satisfies Call;
