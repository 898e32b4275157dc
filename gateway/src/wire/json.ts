import { membersIn } from './scan-json.ts';
import { editsWithout, splice } from './splice.ts';

export interface JsonObject {
  readonly [name: string]: unknown;
}

export function isJsonObject(value: unknown): value is JsonObject {
  // Raw JSON is a number that is kept as it was sent (exact-json.ts).
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}

/** The value where it is text, else an empty one. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The object without the members that are undefined: an absent member stays absent. */
export function defined<T extends object>(members: T): Defined<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Defined<T>;
}

type Defined<T> = { [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name] } & {
  [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>;
};

/** An escape of half a character, or any other escape. */
const ESCAPE = /\\(?:u(d[89a-f][0-9a-f]{2})|.)/g;

/**
 * The JSON of a value, whose texts are whole. Clients cut texts in the middle of an emoji, and providers refuse a body with half of one as
 * no JSON. JSON.stringify escapes the halves, and nothing else in lower-case digits of a surrogate.
 */
export function wholeJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes('\\ud')) return text;
  return text.replaceAll(ESCAPE, (written, half?: string) => (half === undefined ? written : '\ufffd'));
}

// Of Node 24, but not yet of the compiler's libraries.
declare global {
  interface JSON {
    rawJSON(text: string): RawJson;
    isRawJSON(value: unknown): value is RawJson;
  }
}

interface RawJson {
  readonly rawJSON: string;
}

/**
 * The text of a JSON object without its member `name`, every other byte as it was. Parsing and writing again
 * would reorder and reformat what an upstream sent. The text must be a valid JSON object.
 */
export function withoutMember(json: string, name: string): string {
  const short = withoutLastNull(json, name);
  if (short !== undefined) return short;
  const bytes = Buffer.from(json);
  const members = membersIn(bytes);
  const places = members.map(({ keyStart, valueEnd }) => ({ start: keyStart, end: valueEnd }));
  const names = members.map(({ keyStart, keyEnd }) => JSON.parse(bytes.toString('utf8', keyStart, keyEnd)));
  return splice(
    bytes,
    editsWithout(places, (index) => names[index] === name),
  ).toString();
}

/** The same where the member is null, the last one, and surely the only one of its name, as in most chunks of a stream. */
function withoutLastNull(json: string, name: string): string | undefined {
  const start = json.indexOf(`"${name}"`) - 1;
  // The comma is outside a string: a quote that ends one is followed by no name. Escaped, the name may be spelled otherwise.
  const isLast = start > 0 && json.endsWith(`,"${name}":null}`) && start === json.length - name.length - 9;
  return isLast && !json.includes('\\u') ? `${json.slice(0, start)}}` : undefined;
}
