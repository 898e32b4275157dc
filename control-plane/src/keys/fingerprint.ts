import { createHash } from 'node:crypto';

/** Identifies equal requests: the SHA-256 of the body as the contract parsed it. */
export function fingerprint(body: Readonly<Record<string, unknown>>): Buffer {
  const fields = Object.entries(body).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify(fields, (_name, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  return createHash('sha256').update(text).digest();
}
