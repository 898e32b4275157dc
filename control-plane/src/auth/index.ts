import type { Logger } from 'pino';
import type { Implementation } from '../http/implement.ts';
import type { DatabaseFor } from '../scheduling.ts';
import type { ControlPlaneSettings } from '../settings.ts';
import { google } from './google.ts';
import type { GoogleTokens } from './google-credential.ts';
import { createGoogleIssuer } from './google-issuer.ts';
import { login } from './login.ts';
import { logout } from './logout.ts';
import { me } from './me.ts';
import type { Passwords } from './passwords.ts';
import { refresh } from './refresh.ts';
import { register } from './register.ts';

export { type AccountOverview, findAccount } from './account-overview.ts';
export { activateAccount } from './activate-account.ts';
export { createAccount } from './create-account.ts';
export { type AccountChange, deactivateAccount } from './deactivate-account.ts';
export { deleteAccount } from './delete-account.ts';
export type { GoogleTokens } from './google-credential.ts';
export { listAccounts } from './list-accounts.ts';
export { createPasswords, type Passwords } from './passwords.ts';
export { findSession } from './sessions.ts';
export { PasswordError, setPassword } from './set-password.ts';
export { sweepExpired } from './sweep.ts';
export { tenantOfToken } from './tokens.ts';

export interface AuthDependencies {
  readonly databaseFor: DatabaseFor;
  readonly log: Logger;
  readonly settings: ControlPlaneSettings;
  readonly passwords: Passwords;
  /** Undefined while signing in with Google is not configured. */
  readonly google: GoogleTokens | undefined;
}

/** The dependencies of Google sign-in. */
export interface GoogleDependencies {
  readonly log: Logger;
  readonly settings: Pick<ControlPlaneSettings, 'google'>;
  /** Milliseconds of a monotonic clock. */
  readonly monotonicMs: () => number;
  /** The time by which ID tokens are verified, in milliseconds since the epoch. */
  readonly nowMs: () => number;
}

export function authEndpoints(dependencies: AuthDependencies): Implementation[] {
  const { databaseFor, log, passwords, settings } = dependencies;
  return [
    register(databaseFor, passwords, settings),
    login({ databaseFor, passwords, settings, log }),
    google({ ...dependencies, tokens: dependencies.google }),
    refresh(databaseFor),
    logout(databaseFor),
    me(),
  ];
}

/** The issuer's keys and addresses are cached in it. Undefined if Google sign-in is not configured. */
export function openGoogle({
  settings,
  log,
  monotonicMs,
  nowMs,
}: GoogleDependencies): GoogleTokens | undefined {
  return (
    settings.google && {
      issuer: createGoogleIssuer({ issuer: settings.google.issuer, log, monotonicMs }),
      clientId: settings.google.clientId,
      nowMs,
    }
  );
}
