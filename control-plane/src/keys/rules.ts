import { invalid, MAX_IDEMPOTENCY_KEY_LENGTH, timestampWithOffset } from '@gatehouse/contract';
import type { KeyRow } from './queries.ts';

/** The fields of a key that a reply may carry, whichever reply it is. */
export function keyFields(row: KeyRow) {
  return {
    id: row.id,
    name: row.name,
    project_id: row.project_id,
    key_prefix: row.key_prefix,
    rate_limit_rpm: row.rate_limit_rpm,
    expires_at: row.expires_at,
    // At most 2^53 - 1 by the contract, so the number is exact.
    credit_limit_cents: row.credit_limit_micro_pkr === null ? null : Number(row.credit_limit_micro_pkr),
    allowed_models: row.allowed_models,
    environment: row.environment,
  };
}

/** Checks an `Idempotency-Key` header. Throws the 400 that says what one may look like. */
export function readIdempotencyKey(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (/^[\x20-\x7e]+$/.test(header) && header.length <= MAX_IDEMPOTENCY_KEY_LENGTH) return header;
  throw invalid([
    {
      loc: ['header', 'idempotency-key'],
      msg: `Must have 1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} characters of printable ASCII.`,
      type: 'not_an_idempotency_key',
    },
  ]);
}

export function notInFuture(epochMicros: bigint): string {
  return `expires_at must be in the future, which ${timestampWithOffset(epochMicros)} is not.`;
}

// What a sentence may repeat of what the caller sent. With the words around it the whole body stays below 1 KiB.
const ECHO_LIMIT_BYTES = 800;

/** Names the routes that cannot be allowed, as many as fit, the first in any case. */
export function noActiveRoute(ids: readonly string[]): string {
  let room = ECHO_LIMIT_BYTES;
  const named: string[] = [];
  for (const id of ids) {
    room -= bytesInJson(id) + 4;
    if (room < 0) break;
    named.push(`'${id}'`);
  }
  if (named.length === 0) named.push(`'${beginning(ids[0] ?? '')}…'`);
  const others = ids.length - named.length;
  return `allowed_models: no active route has the id ${named.join(', ')}${others > 0 ? ` and ${others} more` : ''}.`;
}

function beginning(id: string): string {
  let room = ECHO_LIMIT_BYTES;
  let text = '';
  for (const character of id) {
    room -= bytesInJson(character);
    if (room < 0) break;
    text += character;
  }
  return text;
}

function bytesInJson(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}
