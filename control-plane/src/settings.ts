import type { HttpSettings } from './http/server.ts';

/** Who may join an existing organisation by registering with its name. */
export type JoinPolicy = 'open' | 'same-domain' | 'closed';

/** Whose ID tokens sign in, and for which client. */
export interface GoogleSettings {
  readonly clientId: string;
  /** The issuer's address: https, or http on this machine. */
  readonly issuer: string;
}

/** What an operator can set about the control plane. Read from the environment by whoever starts it. */
export interface ControlPlaneSettings extends HttpSettings {
  readonly joinPolicy: JoinPolicy;
  /** Deposited for each new organisation; 0 deposits nothing. */
  readonly signupCreditMicroPkr: bigint;
  /** Undefined: nobody signs in with Google. */
  readonly google: GoogleSettings | undefined;
  /** Failed sign-ins of one address within `signInWindowSeconds` after which it has to wait. */
  readonly signInAttempts: number;
  readonly signInWindowSeconds: number;
  /** Attempts to register within an hour, of one network and of all together, after which others have to wait. */
  readonly registrationsPerNetwork: number;
  readonly registrationsPerHour: number;
  /** The most requests a minute that a key may be given. */
  readonly rateLimitCeilingRpm: number;
  /** How long an analytics question may take, in ms. */
  readonly analyticsTimeoutMs: number;
}
