import { hash } from 'node:crypto';
import type { PlainToken, TokenHash } from '../ids.ts';

// A gateway key is `sk_svc_` and 32 base62 characters. The last two check what comes before: the 32 characters,
// read as one number in base 62, leave the remainder 1 when divided by 3833. Because 3833 is a prime above 62
// that divides neither 62 nor 61, replacing one character or swapping two neighbours always changes the
// remainder, so a mistyped, truncated or invented key is rejected without a database query (an invented one
// passes once in 3,833 times, and is then unknown).

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE = ALPHABET.length;
const LEAD = 'sk_svc_';
const RANDOM_LENGTH = 30;
const MODULUS = 3833;
const PREFIX_LENGTH = LEAD.length + 8;

// The largest multiple of 62 in a byte. Bytes from here on are discarded: they would make the first
// eight characters of the alphabet more likely than the rest.
const UNBIASED_BYTES = 256 - (256 % BASE);

const digitOf = new Map(Array.from(ALPHABET, (character, digit) => [character, digit]));

/** A new secret. `randomBytes(n)` returns n unpredictable bytes; it is called again when some are unusable. */
export function generateGatewayKey(randomBytes: (n: number) => Buffer): PlainToken {
  let body = '';
  while (body.length < RANDOM_LENGTH) {
    for (const byte of randomBytes(RANDOM_LENGTH + 10)) {
      if (byte < UNBIASED_BYTES && body.length < RANDOM_LENGTH) body += ALPHABET.charAt(byte % BASE);
    }
  }
  return (LEAD + body + checkCharacters(body)) as PlainToken;
}

/** True if the text has the form of a key with correct check characters. The key may still not exist. */
export function isWellFormedGatewayKey(text: string): boolean {
  if (!/^sk_svc_[0-9A-Za-z]{32}$/.test(text) || text.length !== LEAD.length + RANDOM_LENGTH + 2) return false;
  const body = text.slice(LEAD.length, -2);
  return text.endsWith(checkCharacters(body));
}

/**
 * True if the text can be a key: one of Gatehouse's own form with correct check characters, or one that another gateway made, of which no
 * form is known.
 */
export function mayBeGatewayKey(text: string): boolean {
  return text.startsWith(LEAD) ? isWellFormedGatewayKey(text) : /^[\x21-\x7e]{16,255}$/.test(text);
}

/** The part of a key that may be shown and logged: `sk_svc_` and eight characters. */
export function gatewayKeyPrefix(secret: string): string {
  return secret.slice(0, PREFIX_LENGTH);
}

/** The stored form of a key: SHA-256, 32 bytes. The key has 178 random bits, so a slow hash would add nothing. */
export function hashGatewayKey(secret: string): TokenHash {
  return hash('sha256', secret, 'buffer') as TokenHash;
}

function checkCharacters(body: string): string {
  let remainder = 0;
  for (const character of body) remainder = (remainder * BASE + (digitOf.get(character) ?? 0)) % MODULUS;
  // The check is the number c below 3833 with (body * 62² + c) mod 3833 = 1.
  const check = (MODULUS + 1 - ((remainder * BASE * BASE) % MODULUS)) % MODULUS;
  return ALPHABET.charAt(Math.floor(check / BASE)) + ALPHABET.charAt(check % BASE);
}
