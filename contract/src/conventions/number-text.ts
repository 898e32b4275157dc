import { z } from 'zod';
import { isWholeDecimal } from './money.ts';
import { outerMembers } from './outer-members.ts';
import { RepeatedMember, repeatedMembers } from './repeated-members.ts';

/**
 * A JSON number as it was written. JavaScript reads numbers into doubles, in which 1.0000000000000001 is 1 and
 * 9007199254.740993 is something near it; where every digit counts, the text is checked.
 */
export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The schemas of fields that need the text of their number. */
export const readsNumberText: z.core.$ZodRegistry<{ readonly isNumberText: true }> = z.registry();

/** The fields whose numbers are kept as text. */
function numberTextFields(body: z.ZodObject): ReadonlySet<string> {
  return new Set(
    Object.entries(body.shape)
      .filter(([, field]) => readsNumberText.has(field))
      .map(([name]) => name),
  );
}

/** How to read the members of a body, by name. */
export interface MemberRules {
  /** Numbers of these members become a `NumberText`. */
  readonly asWritten: ReadonlySet<string>;
  /** These members become a `RepeatedMember` where the outermost object has them more than once. */
  readonly once: ReadonlySet<string>;
}

// JSON.parse takes the last of two limits in one body; the caller may have meant the first.
const MONEY_MEMBERS = ['credit_limit_cents', 'credit_limit_pkr', 'limit_pkr'];

/** How to read a body of this schema. */
export function memberRules(body: z.ZodObject): MemberRules {
  return {
    asWritten: numberTextFields(body),
    once: new Set(MONEY_MEMBERS.filter((name) => name in body.shape)),
  };
}

// As a double, 9007199254740990.5 is an integer, and 1e-400 is the 0 that stands for "never" and "no limit".
function losesFraction(written: string, value: number): boolean {
  return Number.isInteger(value) && /[.e]/i.test(written) && !isWholeDecimal(written);
}

/**
 * Parses JSON by the rules, which are about the members of the outermost object. Of these, a number whose fraction a double would
 * drop becomes a `NumberText` too, which no field of integers takes. Throws what JSON.parse throws. Without a reviver, which takes
 * a hundred times as long for a body that is full of numbers.
 */
export function parseJson(text: string, { asWritten, once }: MemberRules): unknown {
  const parsed: unknown = JSON.parse(text);
  const isPlain = typeof parsed !== 'object' || parsed === null || Array.isArray(parsed);
  if (isPlain) return parsed;
  const given = parsed as Record<string, unknown>;
  if (asWritten.size + once.size === 0 && !Object.values(given).some(Number.isInteger)) return given;
  const members = outerMembers(text);
  for (const { name, start, end } of new Map(members.map((member) => [member.name, member])).values()) {
    if (typeof given[name] !== 'number') continue;
    const written = text.slice(start, end).trim();
    if (asWritten.has(name) || losesFraction(written, given[name])) given[name] = new NumberText(written);
  }
  for (const name of repeatedMembers(text, once, members)) given[name] = new RepeatedMember();
  return given;
}
