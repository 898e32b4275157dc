import { decimalFromMicroPkr, pkrNumber, timestampWithZ } from '@gatehouse/contract';
import type { RequestLogKind, RequestLogKinds } from '@gatehouse/store';

/**
 * How a kind of value of the request log looks in the API. If undefined: in JSON the value itself, in CSV its text. Null is
 * null in JSON and empty in CSV.
 */
interface Format<Read> {
  readonly json?: (value: Read) => unknown;
  readonly csv?: (value: Read) => string;
}

export const FORMATS: { readonly [K in RequestLogKind]: Format<RequestLogKinds[K]['read']> } = {
  uuid: {},
  requestId: { csv: csvText },
  reference: {},
  text: { csv: csvText },
  termination: {},
  // The names come from callers' headers, and one of them can be `__proto__`: pass on what JSON.parse returned, copy no member.
  labels: { csv: csvJson },
  // Not in an entry of the list.
  attempts: {},
  boolean: {},
  flag: {},
  status: {},
  count: { json: Number },
  requests: {},
  milliseconds: { csv: decimal },
  microPkr: { json: (value) => pkrNumber(BigInt(value)), csv: (value) => decimalFromMicroPkr(BigInt(value)) },
  instant: { json: (value) => timestampWithZ(BigInt(value)), csv: (value) => timestampWithZ(BigInt(value)) },
};

// The escaped characters are the full-width forms of the first four.
const BEGINS_FORMULA = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;
const FORMULA_INSIDE = /([;|\t\r\n]"*)([=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/g;

/**
 * A spreadsheet would compute a text that begins like a formula, and this one comes from the caller: an apostrophe
 * before it says that it is text. Many spreadsheets separate cells at semicolons or tabs and rows at each line end, so what comes
 * after one counts as a beginning; quotes do not help in the middle of such a cell. Guarded by the tests 'lets no
 * spreadsheet take a text for a formula' and 'leaves every other text as it is'.
 */
export function csvText(value: string): string {
  const inside = value.replace(FORMULA_INSIDE, (_, before: string, first: string) => `${before}'${first}`);
  return quoted(BEGINS_FORMULA.test(value) ? `'${inside}` : inside);
}

/** JSON with the same value. */
function csvJson(value: unknown): string {
  return quoted(
    JSON.stringify(value).replace(
      FORMULA_INSIDE,
      (_, before: string, first: string) =>
        `${before}\\u${first.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  );
}

// An empty text is quoted, null is not.
function quoted(value: string): string {
  return value === '' || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** Writes a number with the digits that JavaScript gives it, but never with an exponent. */
export function decimal(value: number): string {
  const text = String(value);
  const [, sign = '', whole = '', fraction = '', exponent] =
    (text.includes('e') && /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text)) || [];
  if (exponent === undefined) return text;
  const point = whole.length + Number(exponent);
  const digits = (whole + fraction).padStart(whole.length + fraction.length + Math.max(1 - point, 0), '0');
  const at = Math.max(point, 1);
  const padded = digits.padEnd(at, '0');
  return `${sign}${padded.slice(0, at)}${at < padded.length ? `.${padded.slice(at)}` : ''}`;
}
