import { parseRange, rangeSearch } from '../format/range.ts';

// URLs stay readable and can be written by hand: plain parameters, no JSON. Every value is a text; a page validates its own
// (`validateSearch`) and drops what it does not know.

/** The parameters of a URL. A repeated one counts once, with its first value. */
export function parseSearch(text: string): Record<string, string> {
  const search: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    if (value !== '' && !Object.hasOwn(search, name) && name !== '__proto__') search[name] = value;
  }
  return search;
}

/** Undefined, empty and false values are left out, so that a default leaves no trace in the URL. */
export function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    if (value === undefined || value === null || value === '' || value === false) continue;
    parameters.set(name, String(value));
  }
  const text = parameters.toString();
  // These may stand in a query as they are, and a time is easier to read with them.
  return text === '' ? '' : `?${text.replaceAll('%3A', ':').replaceAll('%2F', '/')}`;
}

/** The members of a URL that a page keeps: those that are not set are left out, so that two URLs of one state are one. */
export function withoutUndefined<Search extends object>(search: Search): Search {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as Search;
}

/** The part of a page's parameters that a link to another page takes along. */
export function rangeOf(search: Readonly<Record<string, unknown>>): Record<string, string> {
  const range = parseRange(search);
  return range === undefined ? {} : rangeSearch(range);
}

/** A path of this page, to return to after sign-in; anything else, such as another site, is the overview. */
export function safeReturn(path: unknown): string {
  if (typeof path !== 'string' || !/^\/(?![/\\])/.test(path) || /[\\\s]/.test(path)) return '/';
  return path.startsWith('/sign-in') || path.startsWith('/register') ? '/' : path;
}
