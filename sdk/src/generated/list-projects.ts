// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';
import type { Project } from './schemas.ts';

/** `listProjects` takes no input. */
export type ListProjectsInput = { readonly [name: string]: never };

/** The reply of `listProjects`. */
export interface ListProjectsReply {
  readonly projects: readonly Project[];
}

/** GET /projects: The projects of the organisation, oldest first. */
export const listProjects = {
  name: 'listProjects',
  method: 'GET',
  path: '/projects',
  query: [],
  headers: {},
  body: undefined,
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['projects'],
} as const satisfies Call;
