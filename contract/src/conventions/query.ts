import type { z } from 'zod';
import { type Issue, invalid } from './errors.ts';
import { issuesOf } from './parse.ts';
import { isStorableText } from './text.ts';

/**
 * Reads a query string (without the `?`, one character per byte) by a schema of strings. An empty parameter counts as
 * unset, a repeated one is an issue, an unknown one is ignored. Throws the 400 that lists every issue.
 */
export function parseQuery<Schema extends z.ZodObject>(schema: Schema, search: string): z.infer<Schema> {
  const given = readPairs(search);
  const issues: Issue[] = [];
  const values: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    const all = given.get(name) ?? [''];
    const value = all[0];
    if (all.length > 1) {
      issues.push({ loc: ['query', name], msg: 'Must be given once.', type: 'repeated' });
    } else if (value === undefined || !isStorableText(value)) {
      issues.push({
        loc: ['query', name],
        msg: 'Text must be well-formed Unicode without U+0000.',
        type: 'text_not_storable',
      });
    } else if (value.trim() !== '') {
      values[name] = value;
    }
  }
  const result = schema.safeParse(values, { reportInput: true });
  if (!result.success) {
    // A parameter that already has an issue was left out above; its absence is not a second one.
    const named = new Set(issues.map((issue) => issue.loc[1]));
    issues.push(...issuesOf('query', result.error).filter((issue) => !named.has(issue.loc[1])));
  }
  if (issues.length > 0 || !result.success) throw invalid(issues);
  return result.data;
}

function readPairs(search: string): Map<string | undefined, (string | undefined)[]> {
  const pairs = new Map<string | undefined, (string | undefined)[]>();
  for (const pair of search.split('&')) {
    const equals = pair.indexOf('=');
    const name = decoded(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : decoded(pair.slice(equals + 1));
    const values = pairs.get(name);
    if (values) values.push(value);
    else pairs.set(name, [value]);
  }
  return pairs;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

// As URLSearchParams does it, with one difference: bytes that are not UTF-8 are undefined and not U+FFFD, which
// the caller did not send. A lone % is literal.
function decoded(part: string): string | undefined {
  const bytes = part
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  try {
    return utf8.decode(Buffer.from(bytes, 'latin1'));
  } catch {
    return undefined;
  }
}
