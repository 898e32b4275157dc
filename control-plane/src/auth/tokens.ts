import { createHash, randomBytes } from 'node:crypto';
import type { PlainToken, TokenHash } from '@gatehouse/contract';

/** A new session token: 256 random bits in base64url, which a cookie can carry. */
export function newToken(): PlainToken {
  return randomBytes(32).toString('base64url') as PlainToken;
}

/** The stored form of a token. A token is random enough that a plain hash cannot be reversed. */
export function hashToken(token: PlainToken): TokenHash {
  return createHash('sha256').update(token, 'utf8').digest() as TokenHash;
}
