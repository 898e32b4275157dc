import { auth, forbidden, type Secret } from '@gatehouse/contract';
import type { ControlPlaneSettings, JoinPolicy } from '../settings.ts';

/** Throws 403 where the operator has switched passwords off. */
export function requirePasswords({ passwordSignIn }: Pick<ControlPlaneSettings, 'passwordSignIn'>): void {
  if (!passwordSignIn)
    throw forbidden('Passwords are switched off on this service; sign in with its identity provider.');
}

/** Why an address may not join an organisation, or undefined when it may. */
export function reasonNotToJoin(
  policy: JoinPolicy,
  email: string,
  ownerEmail: string | null,
): string | undefined {
  switch (policy) {
    case 'open':
      return undefined;
    case 'closed':
      return 'This organisation takes no new members by registration.';
    case 'same-domain':
      if (ownerEmail !== null && domainOf(ownerEmail) === domainOf(email)) return undefined;
      return 'This organisation takes new members only with an e-mail address of the same domain as its owner.';
  }
}

function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1);
}

/** The address in the form that accounts are stored with, as a sign-in reads it; undefined when no account can have it. */
export function comparableEmail(given: string): string | undefined {
  return auth.login.body.shape.email.safeParse(given).data;
}

/** The issue with the form of a new password, as a sentence; undefined when it is acceptable. */
export function passwordIssue(password: Secret): string | undefined {
  return auth.register.body.shape.password.safeParse(password.reveal()).error?.issues[0]?.message;
}
