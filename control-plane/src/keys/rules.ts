import { MAX_EPOCH_SECONDS, timestampWithOffset } from '@gatehouse/contract';

/** The amounts that a new credit limit of a key is judged against. */
export interface CreditPosition {
  /** The cost of the key's settled requests. */
  readonly settledMicroPkr: bigint;
  /** The cost of the key's finished requests that are not settled yet. */
  readonly unsettledMicroPkr: bigint;
  /** The organisation's deposits, minus withdrawals. */
  readonly budgetMicroPkr: bigint;
  /** The sum of the limits of the organisation's other keys that are not revoked. */
  readonly otherLimitsMicroPkr: bigint;
}

export type CreditLimitDecision = 'accepted' | 'below_spend' | 'above_headroom';

/**
 * A limit cannot be below what the key has spent, nor above the headroom. A key without a limit takes no headroom, so
 * removing the limit is always accepted. The spend rule comes first.
 */
export function judgeCreditLimit(
  creditLimitMicroPkr: bigint | null,
  position: CreditPosition,
): CreditLimitDecision {
  if (creditLimitMicroPkr === null) return 'accepted';
  if (creditLimitMicroPkr < spendFloor(position)) return 'below_spend';
  return creditLimitMicroPkr > headroom(position) ? 'above_headroom' : 'accepted';
}

/**
 * The lowest limit a key can have: the cost of its finished requests, settled or not. Requests in flight do not count,
 * so that a limit can stop a key at once.
 */
export function spendFloor({
  settledMicroPkr,
  unsettledMicroPkr,
}: Pick<CreditPosition, 'settledMicroPkr' | 'unsettledMicroPkr'>): bigint {
  return settledMicroPkr + unsettledMicroPkr;
}

/** The highest limit a key can have: the part of the budget that the limits of the other keys leave. Never below 0. */
export function headroom({
  budgetMicroPkr,
  otherLimitsMicroPkr,
}: Pick<CreditPosition, 'budgetMicroPkr' | 'otherLimitsMicroPkr'>): bigint {
  return budgetMicroPkr > otherLimitsMicroPkr ? budgetMicroPkr - otherLimitsMicroPkr : 0n;
}

/** Epoch seconds in ISO 8601; undefined for an instant that cannot be an expiry: before 1970 or after the year 9999. */
export function expiryInstant(epochSeconds: number): string | undefined {
  if (epochSeconds < 0 || epochSeconds > MAX_EPOCH_SECONDS) return undefined;
  return timestampWithOffset(BigInt(epochSeconds) * 1_000_000n);
}
