import { isStorableText, type MemberRule } from '@gatehouse/contract';
import { z } from 'zod';

// How a catalogue file writes `deny` and `allow`: a list of names, or of one name with its values.

const MOST_RULES = 64;
const MOST_VALUES = 64;
const LONGEST_TEXT = 100;

const FORM =
  'the name of a member of a request, or one name with a list of values, as { service_tier: [flex] }';

const entry = z.unknown().transform((value, context): MemberRule => {
  const refuse = (message: string, path: string[] = []) => {
    context.addIssue({ code: 'custom', message, path });
    return z.NEVER;
  };
  if (isName(value)) return { member: value, values: null };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse(`must be ${FORM}`);
  const [first, ...others] = Object.entries(value);
  if (!first || others.length > 0 || !isName(first[0])) return refuse(`must be ${FORM}`);
  const [member, values] = first;
  if (!Array.isArray(values) || values.length === 0 || values.length > MOST_VALUES) {
    return refuse(`must be a list of 1 to ${MOST_VALUES} values`, [member]);
  }
  const texts = values.map((one: unknown) => (isScalar(one) ? String(one) : ''));
  if (!texts.every(isName)) {
    return refuse(`must hold only texts of 1 to ${LONGEST_TEXT} characters, numbers, true or false`, [
      member,
    ]);
  }
  return { member, values: [...new Set(texts)] };
});

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= LONGEST_TEXT && isStorableText(value);
}

function isScalar(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

/** A list of rules in which each member stands once. */
export const MemberRules = z
  .array(entry)
  .max(MOST_RULES, { error: `must have at most ${MOST_RULES} entries` })
  .superRefine((rules, context) => {
    const seen = new Set<string>();
    rules.forEach(({ member }, index) => {
      if (seen.has(member)) {
        context.addIssue({ code: 'custom', message: `the member ${member} is named twice`, path: [index] });
      }
      seen.add(member);
    });
  });
