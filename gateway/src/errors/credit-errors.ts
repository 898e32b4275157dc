import {
  pkrInWords,
  type SpendScopeKind,
  type SpendWindow,
  spendWindowInWords,
  timestampWithOffset,
} from '@gatehouse/contract';
import { cutToStorable } from '../wire/text.ts';
import { GatewayError, NO_RETRY } from './gateway-error.ts';

// The errors of a request for which too little credit is free.

/** A label may have 1,024 bytes. */
const SHOWN_VALUE_LENGTH = 80;

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

/** The spend limit that a request would pass, with the window that the request belongs to. */
export interface SpendLimitInWords {
  readonly id: string;
  readonly scope: SpendScopeKind;
  /** The label's; null for the other scopes. */
  readonly name: string | null;
  /** Null also where several values share what is left. */
  readonly value: string | null;
  readonly window: SpendWindow;
  /** The zone of the window's calendar. */
  readonly timeZone: string;
  /** In microseconds since 1970; null for a lifetime. */
  readonly endsAt: number | null;
}

/** 402: what is spent in the window of a spend limit leaves less than the request needs at least. */
export function spendLimitReached(
  limit: SpendLimitInWords,
  need: Need,
  figures: AccountFigures,
): GatewayError {
  return new GatewayError({
    status: 402,
    type: 'insufficient_quota',
    code: 'spend_limit_reached',
    message: `The spend limit of ${scopeInWords(limit)} does not cover this request. ${standing('It is', need, figures, limit)} ${endInWords(limit)} An owner or admin can raise limit ${limit.id}; ${needingLess(need)}.`,
    headers: NO_RETRY,
  });
}

/** 429: enough is left, but requests in flight hold it. */
export function creditHeld(
  account: 'key' | 'organization' | SpendLimitInWords,
  need: Need,
  figures: AccountFigures,
): GatewayError {
  const [whose, limit] =
    account === 'key'
      ? ["this API key's credit", 'Its limit is']
      : account === 'organization'
        ? ["the organization's budget", 'Its deposits are']
        : [`the spend limit of ${scopeInWords(account)} (${account.id})`, 'It is'];
  const spendLimit = typeof account === 'string' ? undefined : account;
  return new GatewayError({
    status: 429,
    type: 'rate_limit_error',
    code: 'credit_held',
    message: `Requests in flight hold too much of ${whose}. ${standing(limit, need, figures, spendLimit)} Try again when one of them has finished, or send fewer at once; ${needingLess(need)}.`,
    headers: { 'retry-after': String(HELD_RETRY_SECONDS) },
  });
}

function standing(
  limitIs: string,
  { microPkr: needed }: Need,
  { limitMicroPkr: limit, spentMicroPkr: spent, heldMicroPkr: held }: AccountFigures,
  spendLimit?: SpendLimitInWords,
): string {
  const window = spendLimit ? ` ${spendWindowInWords(spendLimit.window)}` : '';
  return `${limitIs} ${pkrInWords(limit)}${window}: ${pkrInWords(spent)} spent, ${pkrInWords(held)} held by requests in flight. This request needs at least ${pkrInWords(needed)}.`;
}

function scopeInWords({ scope, name, value }: SpendLimitInWords): string {
  switch (scope) {
    case 'organization':
      return 'the organization';
    case 'project':
      return "this API key's project";
    case 'key':
      return 'this API key';
    case 'member':
      return 'the member who minted this API key';
    case 'metadata':
      return value === null
        ? `further values of the label ${name}`
        : `the label ${name} with the value ${JSON.stringify(cutToStorable(value, SHOWN_VALUE_LENGTH))}`;
  }
}

function endInWords({ window, endsAt, timeZone }: SpendLimitInWords): string {
  if (endsAt === null) return 'It has no end.';
  // Windows end at full seconds.
  const at = timestampWithOffset(BigInt(endsAt)).replace('.000000', '');
  return `This ${window} ends at ${at} by the calendar of ${timeZone}.`;
}

function needingLess({ uncounted }: Need): string {
  if (!uncounted) return 'a shorter prompt or a smaller output limit needs less';
  const { what, contextTokens } = uncounted;
  return `without ${what} it needs less: what that adds to the prompt cannot be counted in advance, so all ${contextTokens} tokens of the context are held. A smaller output limit lowers it too`;
}
