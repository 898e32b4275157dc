import type { KeyBudget } from '@gatehouse/sdk';
import { readAmount } from '../../format/amount-text.ts';

// Limits are computed in micro-PKR as bigint: a sum of decimals would be off by a fraction of one, and the API refuses or,
// worse, stores another limit than the one that was entered.

const MICRO = 1_000_000n;
/** Four billion rupees. Twice as many have no exact number with six decimals in JSON any more. */
const MAX_MICRO_PKR = 4_000_000_000n * MICRO;

export type ParsedAmount =
  | { readonly kind: 'amount'; readonly microPkr: bigint }
  | { readonly kind: 'problem'; readonly sentence: string };

/** The text that a person enters as a limit: `1000`, `1,00,000.50`, `0.000001`. Both endpoints that take it can state it exactly. */
export function parseAmount(text: string): ParsedAmount {
  const read = readAmount(text);
  if (read.kind === 'problem') return read;
  const [whole = '', decimals = ''] = read.decimal.split('.');
  const microPkr = BigInt(whole) * MICRO + BigInt(decimals.padEnd(6, '0'));
  if (microPkr === 0n) return problem('A limit of 0 is not accepted. To stop a key, revoke it.');
  if (microPkr > MAX_MICRO_PKR) return problem('The largest limit is PKR 4,000,000,000.');
  return { kind: 'amount', microPkr };
}

function problem(sentence: string): ParsedAmount {
  return { kind: 'problem', sentence };
}

/** An amount of the API, whose JSON has at most 6 decimals. */
export function microOf(pkr: number): bigint {
  return BigInt(Math.round(pkr * 1_000_000));
}

/** As the API takes and gives it in PKR. Division rounds to the nearest number, whose shortest form has the six decimals. */
export function pkrOf(microPkr: bigint): number {
  return Number(microPkr) / 1_000_000;
}

/** The bounds of the limit of one key. */
export interface LimitBounds {
  /** The spend floor: what the key has spent. */
  readonly floorMicroPkr: bigint;
  /** The headroom of this key: what the limits of the other keys leave of the deposits. */
  readonly headroomMicroPkr: bigint;
}

/** The bounds from the figures of `getBudget`, by the rules of `updateKey`. */
export function limitBounds(
  budget: { readonly deposited_pkr: number; readonly key_limits_pkr: number },
  key: Pick<KeyBudget, 'spent_pkr' | 'credit_limit_pkr'>,
): LimitBounds {
  const others = microOf(budget.key_limits_pkr) - microOf(key.credit_limit_pkr ?? 0);
  const left = microOf(budget.deposited_pkr) - others;
  return { floorMicroPkr: microOf(key.spent_pkr), headroomMicroPkr: left > 0n ? left : 0n };
}

export type LimitDecision = 'accepted' | 'below-spend' | 'above-headroom';

/** The decision that `updateKey` would make, unless something changes meanwhile. The spend floor comes first. */
export function judgeLimit(
  microPkr: bigint,
  { floorMicroPkr, headroomMicroPkr }: LimitBounds,
): LimitDecision {
  if (microPkr < floorMicroPkr) return 'below-spend';
  return microPkr > headroomMicroPkr ? 'above-headroom' : 'accepted';
}
