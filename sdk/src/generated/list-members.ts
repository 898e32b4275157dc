// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';
import type { Member } from './schemas.ts';

/** `listMembers` takes no input. */
export type ListMembersInput = { readonly [name: string]: never };

/** The reply of `listMembers`. */
export interface ListMembersReply {
  readonly members: readonly Member[];
}

/** GET /members: The members of the organisation, in the order of joining. */
export const listMembers = {
  name: 'listMembers',
  method: 'GET',
  path: '/members',
  query: [],
  headers: {},
  body: undefined,
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['members'],
} as const satisfies Call;
