import type { z } from 'zod';
import { type Issue, invalid } from './errors.ts';
import { RepeatedMember } from './repeated-members.ts';

/** Reads a parsed JSON body by a schema. Throws the 400 that lists every issue. */
export function parseBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.infer<Schema> {
  const result = schema.safeParse(body, { reportInput: true });
  if (!result.success) throw invalid(issuesOf('body', result.error));
  return result.data;
}

/** Reads a header of the request by a schema. Throws the 400 that lists every issue. */
export function parseHeader<Schema extends z.ZodType>(
  schema: Schema,
  name: string,
  value: string | undefined,
): z.infer<Schema> {
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) return result.data;
  throw invalid(issuesOf('header', result.error).map((issue) => ({ ...issue, loc: ['header', name] })));
}

/** The issues of a zod error in the form of a reply, each listed once. */
export function issuesOf(part: 'body' | 'query' | 'header', error: z.ZodError): Issue[] {
  const issues = error.issues.map((issue) => ({
    loc: [part, ...issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))],
    ...described(issue),
  }));
  return [...new Map(issues.map((issue) => [JSON.stringify(issue), issue])).values()];
}

const EXPECTED_IN_WORDS: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  object: 'a JSON object',
  record: 'a JSON object',
};

// The unit of a bound, by the kind of value.
const COUNTED: Record<string, readonly [one: string, more: string]> = {
  string: ['character', 'characters'],
  array: ['entry', 'entries'],
};

function described(issue: z.core.$ZodIssue): { msg: string; type: string } {
  if (issue.input instanceof RepeatedMember) return { msg: 'Must be given once.', type: 'repeated' };
  switch (issue.code) {
    case 'invalid_type':
      return expected(issue, EXPECTED_IN_WORDS[issue.expected] ?? issue.expected, 'wrong_type');
    case 'invalid_value':
      return expected(issue, `one of ${issue.values.map(String).join(', ')}`, 'not_in_list');
    case 'too_small':
      return {
        msg: `Must ${bound(issue.origin, issue.inclusive ? 'at least' : 'more than', issue.minimum)}.`,
        type: 'too_small',
      };
    case 'too_big':
      return {
        msg: `Must ${bound(issue.origin, issue.inclusive ? 'at most' : 'less than', issue.maximum)}.`,
        type: 'too_large',
      };
    case 'custom':
      return { msg: issue.message, type: String(issue.params?.['type'] ?? 'invalid') };
    default:
      return { msg: issue.message, type: issue.code };
  }
}

function expected(issue: z.core.$ZodIssue, words: string, type: string): { msg: string; type: string } {
  return issue.input === undefined
    ? { msg: `Required: ${words}.`, type: 'missing' }
    : { msg: `Must be ${words}.`, type };
}

function bound(origin: string, relation: string, figure: number | bigint): string {
  const counted = COUNTED[origin];
  return counted === undefined
    ? `be ${relation} ${figure}`
    : `have ${relation} ${figure} ${counted[Number(figure) === 1 ? 0 : 1]}`;
}
