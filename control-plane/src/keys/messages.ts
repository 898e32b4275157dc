import { MAX_EPOCH_SECONDS, pkrInWords } from '@gatehouse/contract';
import { type CreditPosition, headroom } from './rules.ts';

// The sentences of this section's error replies.

/** For a repeated Idempotency-Key. Names the key it minted, and whether the request is the same. */
export function alreadyMinted(keyPrefix: string, isSameRequest: boolean): string {
  return isSameRequest
    ? `This request has minted the key ${keyPrefix} already; its secret was in that reply only.`
    : `This Idempotency-Key belongs to another request, which minted the key ${keyPrefix}; use a new one for this request.`;
}

/** `instant` in ISO 8601. */
export function notInFuture(instant: string): string {
  return `expires_at must be in the future, which ${instant} is not.`;
}

export function notRepresentable(): string {
  return `expires_at must be Unix time in seconds (not milliseconds), in the future and at most ${MAX_EPOCH_SECONDS}, the end of the year 9999.`;
}

export function tooManyKeys(maxKeys: number): string {
  return `An organisation can have ${maxKeys} keys that are not revoked, and this one has as many. Revoke keys that are no longer used, then mint this one.`;
}

export function aboveCeiling(ceilingRpm: number): string {
  return `rate_limit_rpm cannot be above the platform ceiling of ${ceilingRpm}.`;
}

export function belowSpend(spentMicroPkr: bigint): string {
  return `Credit limit cannot be below the ${pkrInWords(spentMicroPkr)} this key has already spent.`;
}

export function aboveHeadroom(
  position: Pick<CreditPosition, 'budgetMicroPkr' | 'otherLimitsMicroPkr'>,
): string {
  const { budgetMicroPkr, otherLimitsMicroPkr } = position;
  return `Credit limit cannot be above ${pkrInWords(headroom(position))}: the organisation's budget is ${pkrInWords(budgetMicroPkr)}, and the limits of its other keys take ${pkrInWords(otherLimitsMicroPkr)}.`;
}

// Caps how much of the caller's input a sentence repeats. The whole body then stays below 1 KiB.
const ECHO_LIMIT_BYTES = 800;

/**
 * Names as many of the unknown or inactive routes as fit, and always the first. `alias` is one of them that is another
 * name of a route.
 */
export function noActiveRoute(
  ids: readonly string[],
  alias?: { readonly alias: string; readonly routeId: string },
): string {
  const hint = alias
    ? ` '${alias.alias}' is an alias; name its route, '${alias.routeId}', which admits its aliases too.`
    : '';
  let remaining = ECHO_LIMIT_BYTES - bytesInJson(hint);
  const named: string[] = [];
  for (const id of ids) {
    remaining -= bytesInJson(id) + 4;
    if (remaining < 0) break;
    named.push(`'${id}'`);
  }
  if (named.length === 0) named.push(`'${truncated(ids[0] ?? '')}…'`);
  const others = ids.length - named.length;
  return `allowed_models: no active route has the id ${named.join(', ')}${others > 0 ? ` and ${others} more` : ''}.${hint}`;
}

function truncated(id: string): string {
  let remaining = ECHO_LIMIT_BYTES;
  let text = '';
  for (const character of id) {
    remaining -= bytesInJson(character);
    if (remaining < 0) break;
    text += character;
  }
  return text;
}

function bytesInJson(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}
