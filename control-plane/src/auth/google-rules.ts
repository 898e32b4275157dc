import { isStorableText } from '@gatehouse/contract';

// What makes a token a Google sign-in for this service. Each rule excludes another kind of token that the same key could
// have signed, or that a sender could have forged; none of them alone is enough.

/** Tolerated clock difference: an ID token is accepted this long before and after its validity. */
export const TOLERANCE_SECONDS = 60;

const MAX_SUBJECT_LENGTH = 255;
// The end of the year 9999, the latest time that can be stored.
const MAX_EPOCH_SECONDS = 253_402_300_799;

/** The identity in a verified token. */
export interface GoogleIdentity {
  /** Google's permanent id of the account. */
  readonly subject: string;
  /** In Google's spelling; verified by Google, and not yet checked by the rules of registration. */
  readonly email: string;
  /** The domain whose administrators manage the account. */
  readonly hostedDomain: string | undefined;
  /** True if the token was issued for one sign-in of one browser, even where the request does not name the nonce. */
  readonly hasNonce: boolean;
  readonly acceptedUntilSeconds: number;
}

export interface Expected {
  readonly clientId: string;
  /** The issuer's name, in each of its spellings. */
  readonly issuers: readonly string[];
  /** The nonce that the page says it requested the token with, if any. */
  readonly nonce: string | undefined;
  readonly nowSeconds: number;
}

/** Reads the claims of a token with a valid signature, or returns the name of the first rule that they break. */
export function readClaims(claims: unknown, expected: Expected): GoogleIdentity | { readonly issue: string } {
  if (typeof claims !== 'object' || claims === null || Array.isArray(claims)) return { issue: 'claims' };
  const { iss, aud, azp, exp, iat, nbf, sub, email, email_verified, hd, nonce } = claims as Record<
    string,
    unknown
  >;
  const { clientId, issuers, nowSeconds } = expected;
  if (typeof iss !== 'string' || !issuers.includes(iss)) return { issue: 'issuer' };
  const audience = Array.isArray(aud) && aud.length === 1 ? aud[0] : aud;
  if (audience !== clientId) return { issue: 'audience' };
  // Issued to another client, which forwards it here.
  if (azp !== undefined && azp !== clientId) return { issue: 'authorised party' };

  if (!isTime(exp) || nowSeconds >= exp + TOLERANCE_SECONDS) return { issue: 'expired' };
  if (!isTime(iat) || iat > nowSeconds + TOLERANCE_SECONDS) return { issue: 'issued in the future' };
  if (nbf !== undefined && (!isTime(nbf) || nbf > nowSeconds + TOLERANCE_SECONDS))
    return { issue: 'not yet valid' };

  if (!isText(sub) || sub === '' || sub.length > MAX_SUBJECT_LENGTH) return { issue: 'subject' };
  if (!isText(email)) return { issue: 'e-mail address' };
  if (email_verified !== true) return { issue: 'e-mail address not verified' };
  // A nonce is checked only where the request names one.
  if (expected.nonce !== undefined && nonce !== expected.nonce) return { issue: 'nonce' };
  return {
    subject: sub,
    email,
    hostedDomain: typeof hd === 'string' ? hd : undefined,
    hasNonce: nonce !== undefined,
    acceptedUntilSeconds: exp + TOLERANCE_SECONDS,
  };
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= MAX_EPOCH_SECONDS;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && isStorableText(value);
}

/**
 * True if Google is the authority for the address: its own mail, or a domain that it hosts. Any other address was verified once, and may
 * belong to another person since then.
 */
export function isGoogleAuthoritative(email: string, hostedDomain: string | undefined): boolean {
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
  return domain === 'gmail.com' || (hostedDomain !== undefined && asciiLowerCase(hostedDomain) === domain);
}

// ASCII only: the lower case of U+212A is k.
function asciiLowerCase(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}
