import { isStorableText } from '@gatehouse/contract';
import { SignInFailure } from './failure.ts';

const MAX_SUBJECT_LENGTH = 255;

/** An account at the issuer. */
export interface Identity {
  readonly subject: string;
  /** Undefined where the issuer does not vouch for one. In its own spelling, and not yet checked by the rules of registration. */
  readonly verifiedEmail: string | undefined;
}

/** Reads the claims of a verified ID token; `more` are those of the user info, where the token has no address. */
export function readIdentity(
  claims: Readonly<Record<string, unknown>>,
  more: Readonly<Record<string, unknown>> = {},
): Identity {
  const { sub: subject } = claims;
  if (typeof subject !== 'string' || subject === '' || subject.length > MAX_SUBJECT_LENGTH) {
    throw new SignInFailure('invalid_answer', 'subject');
  }
  if (!isStorableText(subject)) throw new SignInFailure('invalid_answer', 'subject');
  return { subject, verifiedEmail: verifiedEmail(claims) ?? verifiedEmail(more) };
}

/**
 * The address that the claims vouch for. Entra ID says so with `xms_edov`, which is true where the owner of the domain has
 * proven it, and has no `email_verified`: https://learn.microsoft.com/entra/identity-platform/optional-claims-reference
 */
function verifiedEmail({
  email,
  email_verified: isVerified,
  xms_edov: isOfOwnDomain,
}: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof email !== 'string' || !isStorableText(email)) return undefined;
  const vouched = isVerified ?? isOfOwnDomain;
  return vouched === true || (isVerified === undefined && (vouched === 1 || vouched === '1'))
    ? email
    : undefined;
}

/** True if the claims say of an address whether it is verified, so that no others need to be asked. */
export function saysOfEmail({
  email,
  email_verified: isVerified,
  xms_edov: isOfOwnDomain,
}: Readonly<Record<string, unknown>>): boolean {
  return typeof email === 'string' && (isVerified !== undefined || isOfOwnDomain !== undefined);
}

/** Throws where the address has none of the domains, if there are any. They match exactly. */
export function requireDomain(
  { verifiedEmail: email }: Identity,
  domains: ReadonlySet<string> | undefined,
): void {
  if (domains === undefined) return;
  if (email === undefined) throw new SignInFailure('email_not_verified');
  const domain = email.slice(email.lastIndexOf('@') + 1).replaceAll(/[A-Z]/g, (one) => one.toLowerCase());
  if (!domains.has(domain)) throw new SignInFailure('domain_not_allowed');
}
