import { isStorableText } from '@gatehouse/contract';

// What makes a token one of Google's sign-ins for us. Each rule shuts out another kind of token that the same key
// could have signed, or that its sender could have made up; none of them alone is enough.

/** Clocks differ; an ID token is taken so many seconds before and after its time. */
export const TOLERANCE_SECONDS = 60;

const MAX_SUBJECT_LENGTH = 255;
// The end of the year 9999: what lies beyond is no time that could be stored.
const MAX_EPOCH_SECONDS = 253_402_300_799;

/** Who signs in, as a token that holds says. */
export interface GoogleIdentity {
  /** What Google knows the account by, for good. */
  readonly subject: string;
  /** As Google spells it; verified, and not yet read by our own rules. */
  readonly email: string;
  /** The domain whose administrators manage the account. */
  readonly hostedDomain: string | undefined;
  /** It was made for one sign-in of one browser, whether or not that says so. */
  readonly hasNonce: boolean;
  readonly acceptedUntilSeconds: number;
}

export interface Expected {
  readonly clientId: string;
  /** The issuer's name, in each of its spellings. */
  readonly issuers: readonly string[];
  /** What the page says the token was asked for with, if anything. */
  readonly nonce: string | undefined;
  readonly nowSeconds: number;
}

/** Names of keys and of where to find them: whoever takes a key that a token brings along believes anything. */
const OWN_KEY = ['jku', 'jwk', 'x5u', 'x5c', 'crit'];

/** Why a token with this header is none of Google's sign-ins, or undefined. */
export function headerIssue(header: Readonly<Record<string, unknown>>): string | undefined {
  const { alg, kid, typ } = header;
  if (alg !== 'RS256') return 'algorithm';
  if (typeof kid !== 'string' || kid === '') return 'no key id';
  const named = OWN_KEY.find((name) => Object.hasOwn(header, name));
  if (named !== undefined) return `header ${named}`;
  // An access token of the same issuer can say all that an ID token says, save that it is one.
  if (typ !== undefined && !(typeof typ === 'string' && typ.toLowerCase() === 'jwt')) return 'type';
  return undefined;
}

/** Reads the claims of a token whose signature holds; the name of the first rule that they break. */
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
  // Issued to another client, which passes it on to us.
  if (azp !== undefined && azp !== clientId) return { issue: 'authorised party' };

  if (!isTime(exp) || nowSeconds >= exp + TOLERANCE_SECONDS) return { issue: 'expired' };
  if (!isTime(iat) || iat > nowSeconds + TOLERANCE_SECONDS) return { issue: 'issued in the future' };
  if (nbf !== undefined && (!isTime(nbf) || nbf > nowSeconds + TOLERANCE_SECONDS))
    return { issue: 'not yet valid' };

  if (!isText(sub) || sub === '' || sub.length > MAX_SUBJECT_LENGTH) return { issue: 'subject' };
  if (!isText(email)) return { issue: 'e-mail address' };
  if (email_verified !== true) return { issue: 'e-mail address not verified' };
  // A page that named a nonce is shown the token that was made for it. One that named none is not asked.
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
 * Whether Google itself decides who has the address: its own mail, or a domain that it hosts. Of any other it says
 * that it was verified, once; since then the address can have gone to somebody else.
 */
export function isGoogleAuthoritative(email: string, hostedDomain: string | undefined): boolean {
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
  return domain === 'gmail.com' || (hostedDomain !== undefined && asciiLowerCase(hostedDomain) === domain);
}

// Only ASCII has one lower case: that of U+212A is k.
function asciiLowerCase(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

const GOOGLE = 'https://accounts.google.com';

/** How the issuer can be named in its tokens. Google's own come in two spellings. */
export function issuerNames(issuer: string): readonly string[] {
  return issuer === GOOGLE ? [GOOGLE, 'accounts.google.com'] : [issuer];
}

/** What discovery found: the issuer as it spells itself, and where its keys are. */
export interface Discovered {
  readonly issuer: string;
  readonly keysUrl: string;
}

/** Where an issuer describes itself. */
export function discoveryUrl(issuer: string): string {
  return `${withoutSlash(issuer)}/.well-known/openid-configuration`;
}

/** Reads what an issuer says of itself; a sentence when it cannot be relied on. */
export function readDiscovery(document: unknown, issuer: string): Discovered | { readonly issue: string } {
  const { issuer: named, jwks_uri: keys } = (document ?? {}) as Record<string, unknown>;
  if (typeof named !== 'string' || withoutSlash(named) !== withoutSlash(issuer)) {
    return { issue: `it calls itself ${JSON.stringify(named)?.slice(0, 200)}` };
  }
  const url = typeof keys === 'string' ? URL.parse(keys) : null;
  // Whoever could change the keys on their way to us could sign in as anybody.
  if (!url || (url.protocol !== 'https:' && url.origin !== new URL(issuer).origin)) {
    return { issue: 'its keys are not where they can be relied on: at an https address, or its own' };
  }
  return { issuer: named, keysUrl: url.href };
}

function withoutSlash(issuer: string): string {
  return issuer.replace(/\/$/, '');
}
