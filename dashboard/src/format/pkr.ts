// Amounts are exact to a millionth of a rupee (a micro-PKR). Nothing here writes an exponent, and nothing rounds an amount to zero.

const MICRO = 1_000_000;

const whole = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const exact = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 6 });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });

/** `1,234.50`: two decimals from one rupee on; below, as many as it takes: `0.000001`. Without the unit. */
export function pkrAmount(pkr: number): string {
  const value = settled(pkr);
  return Math.abs(value) >= 1 || value === 0 ? whole.format(value) : exact.format(value);
}

/** `PKR 1,234.50`. */
export function pkr(amount: number): string {
  return `PKR ${pkrAmount(amount)}`;
}

/** All six decimals where they are needed: for a title, a copy, a reconciliation. `PKR 1,234.500001`. */
export function pkrExact(amount: number): string {
  return `PKR ${exact.format(settled(amount))}`;
}

/** Short, for the axis of a chart: `1.2K`, `0.0004`. */
export function pkrShort(amount: number): string {
  const value = settled(amount);
  if (value === 0) return '0';
  return Math.abs(value) >= 1000
    ? compact.format(value)
    : String(Number(value.toPrecision(3))).replace(/^(-?)(\d)e-7$/, '$10.000000$2');
}

/** A limit or budget as a form takes it, without separators: `1000`, `0.5`. */
export function pkrInput(amount: number): string {
  return settled(amount)
    .toFixed(6)
    .replace(/\.?0+$/, '');
}

/** Sums of decimals are off by less than a micro-PKR; amounts are not. Negative zero is zero. */
function settled(amount: number): number {
  return Math.round(amount * MICRO) / MICRO + 0;
}
