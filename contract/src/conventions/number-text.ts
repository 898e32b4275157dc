import { z } from 'zod';
import { RepeatedMember, repeatedMembers } from './repeated-members.ts';

/**
 * A JSON number as it was written. JavaScript reads numbers into doubles, in which 1.0000000000000001 is 1 and
 * 9007199254.740993 is something near it; where every digit counts, the text is what is judged.
 */
export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The schemas of fields that want their number as it was written. */
export const readsNumberText: z.core.$ZodRegistry<{ readonly isNumberText: true }> = z.registry();

/** The fields whose numbers are kept as they were written. */
function numberTextFields(body: z.ZodObject): ReadonlySet<string> {
  return new Set(
    Object.entries(body.shape)
      .filter(([, field]) => readsNumberText.has(field))
      .map(([name]) => name),
  );
}

/** How the members of a body are to be read, by their names. */
export interface MemberRules {
  /** A number under one of them becomes a NumberText. */
  readonly asWritten: ReadonlySet<string>;
  /** One of them that the outermost object gives more than once becomes a RepeatedMember. */
  readonly once: ReadonlySet<string>;
}

// Of two limits that one body names, JSON.parse would take the last, and the caller may have meant the other.
const MONEY_MEMBERS = ['credit_limit_cents', 'credit_limit_pkr'];

/** How a body of this schema is to be read. */
export function memberRules(body: z.ZodObject): MemberRules {
  return {
    asWritten: numberTextFields(body),
    once: new Set(MONEY_MEMBERS.filter((name) => name in body.shape)),
  };
}

/** Parses JSON, with the members of the rules read as they say. Throws what JSON.parse throws. */
export function parseJson(text: string, { asWritten, once }: MemberRules): unknown {
  const keepText = (name: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && context?.source !== undefined && asWritten.has(name)
      ? new NumberText(context.source)
      : value;
  const parsed: unknown = asWritten.size === 0 ? JSON.parse(text) : JSON.parse(text, keepText);
  if (once.size === 0 || typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    return parsed;
  const repeated = repeatedMembers(text, once).map((name) => [name, new RepeatedMember()]);
  return Object.assign(parsed, Object.fromEntries(repeated));
}
