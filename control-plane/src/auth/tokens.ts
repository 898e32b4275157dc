import { createHash, randomBytes } from 'node:crypto';
import { Secret, type TokenHash } from '@gatehouse/contract';

/** A new session token: 256 random bits in base64url, which a cookie can carry. */
export function newToken(): Secret {
  return new Secret(randomBytes(32).toString('base64url'));
}

/** The stored form of a token. A token is random enough that a plain hash cannot be reversed. */
export function hashToken(token: Secret): TokenHash {
  return createHash('sha256').update(token.reveal(), 'utf8').digest() as TokenHash;
}

/** The tenant as which requests with this token are scheduled. It is a hash, because a `Secret` in a text is the same for all. */
export function tenantOfToken(token: Secret | undefined): string {
  return token === undefined ? 'no session' : `session ${hashToken(token).toString('base64url')}`;
}
