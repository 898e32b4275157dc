// Money is an integer of micro-PKR (1 PKR = 1,000,000) held in a bigint. Text is turned into it digit by digit:
// a binary float in between would lose units (8.2 * 1e6 is 8199999.999999999).

/** Micro-PKR in one PKR. */
export const MICRO_PKR_PER_PKR = 1_000_000n;

/** The largest amount that a request can name, in micro-PKR. A JSON number still holds it exactly. */
export const MAX_AMOUNT_MICRO_PKR = BigInt(Number.MAX_SAFE_INTEGER);

export type AmountError = 'not-a-decimal' | 'negative' | 'too-precise' | 'too-large';

/**
 * Reads a decimal number of PKR (`12`, `12.50`, `1e-6`; as JSON writes numbers, with up to 400 digits on either
 * side of the point) as micro-PKR, exactly. An amount with a digit other than 0 beyond the sixth decimal is an
 * error, so that nothing positive becomes 0.
 */
export function microPkrFromDecimal(text: string): bigint | AmountError {
  const decimal = readDecimal(text);
  if (!decimal) return 'not-a-decimal';
  if (decimal.digits === 0n) return 0n;
  if (decimal.isNegative) return 'negative';
  const { quotient, isExact } = scaled(decimal);
  if (!isExact) return 'too-precise';
  return quotient > MAX_AMOUNT_MICRO_PKR ? 'too-large' : quotient;
}

/** As `microPkrFromDecimal`, for what a person types: an `e` in it is more likely a slip than a power of ten. */
export function microPkrFromTyped(text: string): bigint | AmountError {
  return /e/i.test(text) ? 'not-a-decimal' : microPkrFromDecimal(text);
}

/**
 * Reads a decimal number of PKR as the smallest whole micro-PKR that reaches it, for "at least this much".
 * Accepts any number that is not negative and fits a double; beyond a 64-bit column it returns that column's maximum.
 */
export function microPkrCeiling(text: string): bigint | undefined {
  const decimal = readDecimal(text);
  if (!decimal || !Number.isFinite(Number(text)) || (decimal.isNegative && decimal.digits !== 0n))
    return undefined;
  if (decimal.digits === 0n) return 0n;
  const { quotient, isExact } = scaled(decimal);
  const ceiling = isExact ? quotient : quotient + 1n;
  return ceiling > MAX_INT64 ? MAX_INT64 : ceiling;
}

const MAX_INT64 = 2n ** 63n - 1n;

interface Decimal {
  readonly isNegative: boolean;
  /** The value in micro-PKR is `digits` times ten to the power of `scale`. */
  readonly digits: bigint;
  readonly scale: number;
}

function readDecimal(text: string): Decimal | undefined {
  const match = /^(-?)(0|[1-9]\d{0,399})(?:\.(\d{1,400}))?(?:[eE]([+-]?\d{1,4}))?$/.exec(text);
  if (!match) return undefined;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  return {
    isNegative: sign === '-',
    digits: BigInt(whole + fraction),
    scale: Number(exponent) - fraction.length + 6,
  };
}

/** True for a number of JSON that is an integer as it is written, with at most as many digits as an amount. */
export function isWholeDecimal(text: string): boolean {
  const decimal = readDecimal(text);
  return decimal !== undefined && scaled({ ...decimal, scale: decimal.scale - 6 }).isExact;
}

// The exponent has at most four digits, so the largest power computed here has some ten thousand: microseconds.
function scaled({ digits, scale }: Decimal): { quotient: bigint; isExact: boolean } {
  if (scale >= 0) return { quotient: digits * 10n ** BigInt(scale), isExact: true };
  const divisor = 10n ** BigInt(-scale);
  return { quotient: digits / divisor, isExact: digits % divisor === 0n };
}

/** Writes micro-PKR as a decimal of PKR without trailing zeros: `12.5`, `0.000001`, `-3`. */
export function decimalFromMicroPkr(amount: bigint): string {
  const sign = amount < 0n ? '-' : '';
  const digits = (amount < 0n ? -amount : amount).toString().padStart(7, '0');
  let end = digits.length;
  const point = end - 6;
  while (end > point && digits[end - 1] === '0') end -= 1;
  return `${sign}${digits.slice(0, point)}${end === point ? '' : `.${digits.slice(point, end)}`}`;
}

/** Formats micro-PKR for people: two decimals, or as many as the amount has (`2500.50 PKR`). */
export function pkrInWords(amount: bigint): string {
  const [whole = '', fraction = ''] = decimalFromMicroPkr(amount).split('.');
  return `${whole}.${fraction.padEnd(2, '0')} PKR`;
}

/** The JSON number of PKR nearest to the amount; exact up to fifteen digits. */
export function pkrNumber(amount: bigint): number {
  const microPkr = Number(amount);
  // Of two numbers without error, the quotient is the double nearest to the true value.
  return Number.isSafeInteger(microPkr) ? microPkr / 1_000_000 : Number(decimalFromMicroPkr(amount));
}
