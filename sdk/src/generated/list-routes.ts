// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';
import type { Route } from './schemas.ts';

/** `listRoutes` takes no input. */
export type ListRoutesInput = { readonly [name: string]: never };

/** The reply of `listRoutes`. */
export interface ListRoutesReply {
  readonly routes: readonly Route[];
}

/** GET /routes: The route ids that a request can name as its model, with their prices. */
export const listRoutes = {
  name: 'listRoutes',
  method: 'GET',
  path: '/routes',
  query: [],
  headers: {},
  body: undefined,
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['routes'],
} as const satisfies Call;
