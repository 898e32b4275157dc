import type { z } from 'zod';
import { type Fault, invalid } from './errors.ts';

/** Reads a parsed JSON body by a schema. Throws the 400 that lists every fault. */
export function parseBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.infer<Schema> {
  const result = schema.safeParse(body, { reportInput: true });
  if (!result.success) throw invalid(faultsOf('body', result.error));
  return result.data;
}

/** A schema's complaints as the faults of a reply. */
export function faultsOf(part: 'body' | 'query', error: z.ZodError): Fault[] {
  return error.issues.map((issue) => ({
    loc: [part, ...issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))],
    ...described(issue),
  }));
}

const EXPECTED_IN_WORDS: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  object: 'a JSON object',
};

function described(issue: z.core.$ZodIssue): { msg: string; type: string } {
  switch (issue.code) {
    case 'invalid_type': {
      const expected = EXPECTED_IN_WORDS[issue.expected] ?? issue.expected;
      if (issue.input === undefined) return { msg: `Required: ${expected}.`, type: 'missing' };
      return { msg: `Must be ${expected}.`, type: 'wrong_type' };
    }
    case 'invalid_value':
      return { msg: `Must be one of ${issue.values.map(String).join(', ')}.`, type: 'not_in_list' };
    case 'too_small':
      return {
        msg: `Must be ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}.`,
        type: 'too_small',
      };
    case 'too_big':
      return {
        msg: `Must be ${issue.inclusive ? 'at most' : 'less than'} ${issue.maximum}.`,
        type: 'too_large',
      };
    case 'custom':
      return { msg: issue.message, type: String(issue.params?.['type'] ?? 'invalid') };
    default:
      return { msg: issue.message, type: issue.code };
  }
}
