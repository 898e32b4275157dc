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

/** Header members that name a key or its address. A verifier that uses a key from the token accepts every forgery. */
const OWN_KEY = ['jku', 'jwk', 'x5u', 'x5c', 'crit'];

/** Why a token with this header is not a Google sign-in, or undefined. */
export function headerIssue(header: Readonly<Record<string, unknown>>): string | undefined {
  const { alg, kid, typ } = header;
  if (alg !== 'RS256') return 'algorithm';
  if (typeof kid !== 'string' || kid === '') return 'no key id';
  const named = OWN_KEY.find((name) => Object.hasOwn(header, name));
  if (named !== undefined) return `header ${named}`;
  // An access token of the same issuer can have every claim of an ID token, but not its type.
  if (typ !== undefined && !(typeof typ === 'string' && typ.toLowerCase() === 'jwt')) return 'type';
  return undefined;
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

const GOOGLE = 'https://accounts.google.com';

/** The names that the issuer has in its tokens. Google uses two spellings. */
export function issuerNames(issuer: string): readonly string[] {
  return issuer === GOOGLE ? [GOOGLE, 'accounts.google.com'] : [issuer];
}

/** The result of discovery: the issuer in its own spelling, the address of its keys, and where a browser signs in. */
export interface Discovered {
  readonly issuer: string;
  readonly keysUrl: string;
  readonly authorizationUrl?: string;
}

/** The address of an issuer's discovery document. */
export function discoveryUrl(issuer: string): string {
  return `${withoutSlash(issuer)}/.well-known/openid-configuration`;
}

/** Reads a discovery document, or returns why it cannot be trusted. */
export function readDiscovery(document: unknown, issuer: string): Discovered | { readonly issue: string } {
  const {
    issuer: named,
    jwks_uri: keys,
    authorization_endpoint: authorization,
  } = (document ?? {}) as Record<string, unknown>;
  if (typeof named !== 'string' || withoutSlash(named) !== withoutSlash(issuer)) {
    return { issue: `it calls itself ${JSON.stringify(named)?.slice(0, 200)}` };
  }
  // An attacker who can change the keys in transit can sign in as any account.
  const keysUrl = trustedUrl(keys, issuer);
  if (keysUrl === undefined) {
    return { issue: 'its keys are not where they can be relied on: at an https address, or its own' };
  }
  const authorizationUrl = trustedUrl(authorization, issuer);
  return { issuer: named, keysUrl, ...(authorizationUrl === undefined ? {} : { authorizationUrl }) };
}

/** An https address, or one of the issuer's own origin. */
function trustedUrl(text: unknown, issuer: string): string | undefined {
  const url = typeof text === 'string' ? URL.parse(text) : null;
  return url && (url.protocol === 'https:' || url.origin === new URL(issuer).origin) ? url.href : undefined;
}

function withoutSlash(issuer: string): string {
  return issuer.replace(/\/$/, '');
}
