/** 128 random bits: an Idempotency-Key, a state, a nonce. `crypto.randomUUID` is missing over plain HTTP, except on localhost. */
export function randomText(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
