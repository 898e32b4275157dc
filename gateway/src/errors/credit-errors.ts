import { pkrInWords } from '@gatehouse/contract';
import { GatewayError, NO_RETRY } from './gateway-error.ts';

// The errors of a request for which too little credit is free.

/** Held credit is free when its request ends, at an unknown time; clients retry after this. */
const HELD_RETRY_SECONDS = 1;

/** The account whose credit does not suffice. `spent` includes what finished requests cost, settled or not. */
export interface AccountFigures {
  readonly limitMicroPkr: bigint;
  readonly spentMicroPkr: bigint;
  /** By requests in flight. */
  readonly heldMicroPkr: bigint;
}

/** The least that a request needs. */
export interface Need {
  readonly microPkr: bigint;
  /** The part that adds tokens to the prompt that cannot be counted in advance, so that the whole context is held. */
  readonly uncounted?: { readonly what: string; readonly contextTokens: number } | undefined;
}

/** 402: what is spent leaves less than the request needs at least. */
export function keyCreditExhausted(need: Need, figures: AccountFigures): GatewayError {
  return new GatewayError({
    status: 402,
    type: 'insufficient_quota',
    code: 'key_credit_exhausted',
    message: `This API key's credit does not cover this request. ${standing('Its limit is', need, figures)} Ask for a higher limit; ${needingLess(need)}.`,
    headers: NO_RETRY,
  });
}

/** 402: the same of the organisation. */
export function budgetExhausted(need: Need, figures: AccountFigures): GatewayError {
  return new GatewayError({
    status: 402,
    type: 'insufficient_quota',
    code: 'budget_exhausted',
    message: `The organization's budget does not cover this request. ${standing('Its deposits are', need, figures)} The organization needs a deposit; ${needingLess(need)}.`,
    headers: NO_RETRY,
  });
}

/** 429: enough is left, but requests in flight hold it. */
export function creditHeld(
  account: 'key' | 'organization',
  need: Need,
  figures: AccountFigures,
): GatewayError {
  const [whose, limit] =
    account === 'key'
      ? ["this API key's credit", 'Its limit is']
      : ["the organization's budget", 'Its deposits are'];
  return new GatewayError({
    status: 429,
    type: 'rate_limit_error',
    code: 'credit_held',
    message: `Requests in flight hold too much of ${whose}. ${standing(limit, need, figures)} Try again when one of them has finished, or send fewer at once; ${needingLess(need)}.`,
    headers: { 'retry-after': String(HELD_RETRY_SECONDS) },
  });
}

function standing(
  limitIs: string,
  { microPkr: needed }: Need,
  { limitMicroPkr: limit, spentMicroPkr: spent, heldMicroPkr: held }: AccountFigures,
): string {
  return `${limitIs} ${pkrInWords(limit)}: ${pkrInWords(spent)} spent, ${pkrInWords(held)} held by requests in flight. This request needs at least ${pkrInWords(needed)}.`;
}

function needingLess({ uncounted }: Need): string {
  if (!uncounted) return 'a shorter prompt or a smaller output limit needs less';
  const { what, contextTokens } = uncounted;
  return `without ${what} it needs less: what that adds to the prompt cannot be counted in advance, so all ${contextTokens} tokens of the context are held. A smaller output limit lowers it too`;
}
