// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';
import type { Account } from './schemas.ts';

/** The input of `login`. */
export interface LoginInput {
  /** Case-insensitive. */
  email: string;
  password: string;
}

/** The reply of `login`. */
export type LoginReply = Account;

/** POST /auth/login: Sign in with an e-mail address and a password. */
export const login = {
  name: 'login',
  method: 'POST',
  path: '/auth/login',
  query: [],
  headers: {},
  body: ['email', 'password'],
  needsSession: false,
  setsCookies: true,
  exports: [],
  reply: ['user', 'organization'],
} as const satisfies Call;
