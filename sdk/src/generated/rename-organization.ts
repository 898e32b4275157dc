// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';
import type { OrganizationReference } from './schemas.ts';

/** The input of `renameOrganization`. */
export interface RenameOrganizationInput {
  /** Trimmed. Unique, case-insensitive. 1 to 255 characters; matches `^[^<>]*$`. */
  name: string;
}

/** The reply of `renameOrganization`. */
export type RenameOrganizationReply = OrganizationReference;

/** PATCH /organization: Rename the organisation. */
export const renameOrganization = {
  name: 'renameOrganization',
  method: 'PATCH',
  path: '/organization',
  query: [],
  headers: {},
  body: ['name'],
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['id', 'name'],
} as const satisfies Call;
