import { createHash } from 'node:crypto';

/** Tells the same request from another: SHA-256 of what the contract made of its body. */
export function fingerprint(body: Readonly<Record<string, unknown>>): Buffer {
  const fields = Object.entries(body).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify(fields, (_name, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  return createHash('sha256').update(text).digest();
}
