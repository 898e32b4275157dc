import { createFetch, direct } from '@gatehouse/http/outgoing';
import type { Logger } from 'pino';
import type { Implementation } from '../http/implement.ts';
import type { NavigationImplementation } from '../http/navigate.ts';
import type { DatabaseFor } from '../scheduling.ts';
import type { ControlPlaneSettings } from '../settings.ts';
import { google } from './google.ts';
import type { GoogleTokens } from './google-credential.ts';
import { login } from './login.ts';
import { logout } from './logout.ts';
import { me } from './me.ts';
import { oidc } from './oidc.ts';
import { type OidcDependencies, oidcCallback } from './oidc-callback.ts';
import type { OidcClient } from './openid/exchange-code.ts';
import { createOpenIdIssuer } from './openid/issuer.ts';
import type { Passwords } from './passwords.ts';
import { refresh } from './refresh.ts';
import { register } from './register.ts';

export { createAccount } from './create-account.ts';
export type { GoogleTokens } from './google-credential.ts';
export { type AccountOverview, findAccount } from './operator/account-overview.ts';
export { activateAccount } from './operator/activate-account.ts';
export { createMember } from './operator/create-member.ts';
export { type AccountChange, deactivateAccount } from './operator/deactivate-account.ts';
export { deleteAccount } from './operator/delete-account.ts';
export { AccountError } from './operator/last-owner.ts';
export { listAccounts } from './operator/list-accounts.ts';
export { PasswordError, setPassword } from './operator/set-password.ts';
export { setRole } from './operator/set-role.ts';
export { createPasswords, type Passwords } from './passwords.ts';
export { findSession } from './sessions.ts';
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

/** The dependencies of the identity providers. */
export interface IssuerDependencies {
  readonly log: Logger;
  readonly settings: Pick<ControlPlaneSettings, 'google' | 'oidc' | 'proxyOf'>;
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

/** The navigations by which a browser signs in at the issuer. */
export function authNavigations(dependencies: OidcDependencies): NavigationImplementation[] {
  return [oidc(dependencies.client, dependencies.log), oidcCallback(dependencies)];
}

/** The issuer's keys and addresses are cached in it. Undefined if no issuer is configured. */
export function openOidc({
  settings,
  log,
  monotonicMs,
}: Omit<IssuerDependencies, 'nowMs'>): OidcClient | undefined {
  const fetch = createFetch(settings.proxyOf ?? direct);
  return (
    settings.oidc && {
      issuer: createOpenIdIssuer({
        issuer: settings.oidc.issuer,
        called: 'The OpenID issuer',
        fetch,
        log,
        monotonicMs,
      }),
      settings: settings.oidc,
      fetch,
    }
  );
}

/** The issuer's keys and addresses are cached in it. Undefined if Google sign-in is not configured. */
export function openGoogle({
  settings,
  log,
  monotonicMs,
  nowMs,
}: IssuerDependencies): GoogleTokens | undefined {
  return (
    settings.google && {
      issuer: createOpenIdIssuer({
        issuer: settings.google.issuer,
        called: 'Google',
        fetch: createFetch(settings.proxyOf ?? direct),
        log,
        monotonicMs,
      }),
      clientId: settings.google.clientId,
      nowMs,
    }
  );
}
