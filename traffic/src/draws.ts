import { createHash } from 'node:crypto';

// Random values that are drawn once, not for each row. Each depends only on the seed and its labels, so the order of the
// draws does not matter and a new draw changes no other.

export type Label = string | number | bigint;

/** At least 0 and below 1. */
export function draw(seed: number, ...labels: readonly Label[]): number {
  return Number(digest(seed, labels).readBigUInt64BE() >> 11n) / 2 ** 53;
}

/** An odd 62-bit number, from which the row hashes of a seed start. */
export function seedOfRows(seed: number): bigint {
  return (digest(seed, ['rows']).readBigUInt64BE() >> 2n) | 1n;
}

/** A well-formed UUID (version 4). */
export function drawUuid(seed: number, ...labels: readonly Label[]): string {
  const bytes = digest(seed, labels).subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [
    [0, 8],
    [8, 12],
    [12, 16],
    [16, 20],
    [20, 32],
  ]
    .map(([from, to]) => hex.slice(from, to))
    .join('-');
}

function digest(seed: number, labels: readonly Label[]): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([seed, ...labels.map(String)]))
    .digest();
}
