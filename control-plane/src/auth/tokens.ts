import { createHash, randomBytes } from 'node:crypto';

/** A new session token: 256 random bits, in characters that a cookie can carry. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** What is stored of a token. It is random enough that a plain hash cannot be turned back. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest();
}
