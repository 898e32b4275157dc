import { MAX_EPOCH_SECONDS, pkrInWords, timestampWithOffset } from '@gatehouse/contract';
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

/** Names what the Idempotency-Key has minted; a repeat of that request and another one are told apart. */
export function mintedAlready(keyPrefix: string, isSameRequest: boolean): string {
  return isSameRequest
    ? `This request has minted the key ${keyPrefix} already; its secret was in that reply only.`
    : `This Idempotency-Key belongs to another request, which minted the key ${keyPrefix}; use a new one for this request.`;
}

/** `instant` in ISO 8601. */
export function notInFuture(instant: string): string {
  return `expires_at must be in the future, which ${instant} is not.`;
}

/** Epoch seconds as ISO 8601, or undefined where no expiry can be: before 1970 or after the year 9999. */
export function expiryInstant(epochSeconds: number): string | undefined {
  if (epochSeconds < 0 || epochSeconds > MAX_EPOCH_SECONDS) return undefined;
  return timestampWithOffset(BigInt(epochSeconds) * 1_000_000n);
}

export function notRepresentable(): string {
  return `expires_at must be Unix time in seconds (not milliseconds), in the future and at most ${MAX_EPOCH_SECONDS}, the end of the year 9999.`;
}

export function aboveCeiling(ceilingRpm: number): string {
  return `rate_limit_rpm cannot be above the platform ceiling of ${ceilingRpm}.`;
}

export function belowSpend(spentMicroPkr: bigint): string {
  return `Credit limit cannot be below the ${pkrInWords(spentMicroPkr)} this key has already spent.`;
}

/** What is deposited, and what of it the limits of the other keys take. */
export interface Headroom {
  readonly budgetMicroPkr: bigint;
  readonly othersMicroPkr: bigint;
}

export function aboveHeadroom({ budgetMicroPkr, othersMicroPkr }: Headroom): string {
  const room = budgetMicroPkr > othersMicroPkr ? budgetMicroPkr - othersMicroPkr : 0n;
  return `Credit limit cannot be above ${pkrInWords(room)}: the organisation's budget is ${pkrInWords(budgetMicroPkr)}, and the limits of its other keys take ${pkrInWords(othersMicroPkr)}.`;
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
