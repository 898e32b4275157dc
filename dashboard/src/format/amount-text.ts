// Amounts as people type them. The commas group thousands (1,000,000) or lakhs and crores (10,00,000), as Pakistan writes them.

const AMOUNT = /^(\d{1,16}|[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d?(?:,\d{2})*,\d{3})(?:\.(\d{0,6}))?$/;
// As the page, the command line and price lists write it.
const UNIT = /^(?:PKR|Rs\.?|₨)\s*|\s*(?:PKR|Rs\.?|₨)$/gi;
/** Sixteen digits, their commas, six decimals and the unit are shorter. */
const MAX_LENGTH = 40;

export type AmountText =
  /** Digits, and after a point up to six more: `100000.5`. */
  | { readonly kind: 'decimal'; readonly decimal: string }
  | { readonly kind: 'problem'; readonly sentence: string };

/** Reads `100000`, `100,000`, `1,00,000`, `1,00,000.50`, `PKR 12`, `12 PKR` and `Rs. 12`. Every other grouping is a problem, because it is
 *  a typing error. */
export function readAmount(text: string): AmountText {
  const trimmed = text.trim();
  if (trimmed.length > MAX_LENGTH)
    return problem('This amount is too long. Enter one such as 1,00,000 or 0.50.');
  const typed = trimmed.replaceAll(UNIT, '');
  if (typed === '') return problem('Enter an amount in PKR.');
  const match = AMOUNT.exec(typed);
  if (match === null) {
    if (/^[\d,]*\.\d{7,}$/.test(typed)) return problem('At most 6 decimals are accepted.');
    return problem(
      typed.includes(',')
        ? 'The commas are not where thousands or lakhs have them. Enter 100000, 100,000 or 1,00,000, with decimals after a point: 1,00,000.50.'
        : 'Enter an amount such as 1000, 1,00,000 or 0.50.',
    );
  }
  const [, whole = '', decimals = ''] = match;
  return { kind: 'decimal', decimal: whole.replaceAll(',', '') + (decimals === '' ? '' : `.${decimals}`) };
}

function problem(sentence: string): AmountText {
  return { kind: 'problem', sentence };
}
