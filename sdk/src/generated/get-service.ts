// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';

/** `getService` takes no input. */
export type GetServiceInput = { readonly [name: string]: never };

/** The reply of `getService`. */
export interface GetServiceReply {
  /** The version of the API. */
  readonly version: string;
  /**
   * The address where clients reach the gateway, without a slash at the end and without /v1. Null if the
   * service cannot know it, because it listens on every address; then use the host name of the API and
   * gateway_port.
   */
  readonly gateway_url: string | null;
  /** The port that the gateway listens on; null while it is unknown. */
  readonly gateway_port: number | null;
  /** Null where Google sign-in is not configured. */
  readonly google: {
    readonly client_id: string;
    /**
     * The address where a browser is sent to sign in. Null while the issuer cannot be reached; try again
     * later.
     */
    readonly authorization_endpoint: string | null;
  } | null;
  /** Null where there is no OpenID issuer. Otherwise a browser signs in at `GET /auth/oidc`. */
  readonly oidc: {
    /** The text of the button. */
    readonly label: string;
  } | null;
  /** Only where accounts are neither registered nor signed in with a password here. */
  readonly password_sign_in?: false;
}

/** GET /service: The facts that a client needs before it signs in. May be cached for a minute. */
export const getService = {
  name: 'getService',
  method: 'GET',
  path: '/service',
  query: [],
  headers: {},
  body: undefined,
  needsSession: false,
  setsCookies: false,
  exports: [],
  reply: ['version', 'gateway_url', 'gateway_port', 'google', 'oidc'],
} as const satisfies Call;
