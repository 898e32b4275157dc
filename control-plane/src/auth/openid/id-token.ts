import { createHash } from 'node:crypto';
import type { OpenIdIssuer } from './issuer.ts';

/** A sign-in by an identity that is not accepted. The reason goes to the log. */
export class IdentityError extends Error {
  override readonly name = 'IdentityError';
  readonly reason: string;

  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

/** The claims of an ID token whose signature is right. */
export interface SignedClaims {
  readonly claims: unknown;
  /** The names that the issuer may have in it. */
  readonly issuers: readonly string[];
  /** The same for every encoding of the token, and different for every other token. */
  readonly hash: Buffer;
}

/** The asymmetric algorithms that an ID token may be signed with. */
export const SIGNATURE_ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA'.split(' ');

/** Header members that name a key or its address. A verifier that uses a key from the token accepts every forgery. */
const OWN_KEY = ['jku', 'jwk', 'x5u', 'x5c', 'crit'];

/** Why a token with this header is not an ID token that is signed so, or undefined. */
export function headerIssue(
  header: Readonly<Record<string, unknown>>,
  algorithms: readonly string[],
): string | undefined {
  const { alg, kid, typ } = header;
  if (typeof alg !== 'string' || !algorithms.includes(alg)) return 'algorithm';
  if (typeof kid !== 'string' || kid === '') return 'no key id';
  const named = OWN_KEY.find((name) => Object.hasOwn(header, name));
  if (named !== undefined) return `header ${named}`;
  // An access token of the same issuer can have every claim of an ID token, but not its type.
  if (typ !== undefined && !(typeof typ === 'string' && typ.toLowerCase() === 'jwt')) return 'type';
  return undefined;
}

/**
 * Verifies the signature of an ID token, and reads its claims.
 * @throws IdentityError, or ApiError 503 while the issuer is unavailable
 */
export async function verifyIdToken(
  token: string,
  issuer: OpenIdIssuer,
  algorithms: readonly string[],
): Promise<SignedClaims> {
  // Checks that need no key come first, so that a malformed token causes no request to the issuer.
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) throw new IdentityError('no signed token');
  // Loaded with the first token: most installations have none.
  const { compactVerify, decodeProtectedHeader } = await import('jose');
  const header = readable(() => decodeProtectedHeader(token), 'header');
  const issue = headerIssue(header, algorithms);
  if (issue !== undefined) throw new IdentityError(issue);

  const signer = await issuer.findKey(header);
  if (!signer) throw new IdentityError('unknown key');
  const { payload } = await compactVerify(token, signer.key, { algorithms: [...algorithms] }).catch(() => {
    throw new IdentityError('signature');
  });
  const claims = readable(() => JSON.parse(Buffer.from(payload).toString('utf8')) as unknown, 'claims');
  return { claims, issuers: signer.issuers, hash: hashOfSigned(token) };
}

// The last character of the signature has unused bits, so one token has several encodings. The signed part has one.
function hashOfSigned(token: string): Buffer {
  return createHash('sha256')
    .update(token.slice(0, token.lastIndexOf('.')))
    .digest();
}

function readable<T>(read: () => T, what: string): T {
  try {
    return read();
  } catch {
    throw new IdentityError(what);
  }
}
