import type { Secret } from '@gatehouse/contract';
import { type GoogleIdentity, readClaims } from './google-rules.ts';
import { IdentityError, verifyIdToken } from './openid/id-token.ts';
import type { OpenIdIssuer } from './openid/issuer.ts';

export interface GoogleCredential extends GoogleIdentity {
  /** The same for every encoding of the token, and different for every other token. */
  readonly hash: Buffer;
}

/** The means of verifying a token. */
export interface GoogleTokens {
  readonly issuer: OpenIdIssuer;
  readonly clientId: string;
  readonly nowMs: () => number;
}

const ALGORITHMS = ['RS256'];

/**
 * Verifies an ID token.
 * @throws IdentityError, or ApiError 503 while the issuer is unavailable
 */
export async function readGoogleCredential(
  credential: Secret,
  nonce: string | undefined,
  { issuer, clientId, nowMs }: GoogleTokens,
): Promise<GoogleCredential> {
  const { claims, issuers, hash } = await verifyIdToken(credential.reveal(), issuer, ALGORITHMS);
  const identity = readClaims(claims, { clientId, issuers, nonce, nowSeconds: nowMs() / 1000 });
  if ('issue' in identity) throw new IdentityError(identity.issue);
  return { ...identity, hash };
}
