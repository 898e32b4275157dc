import { isStorableText, type MemberRule } from '@gatehouse/contract';
import { z } from 'zod';

// How a catalogue file writes `deny` and `allow`: a list of names, or of one name with its values.

const MOST_RULES = 64;
const MOST_VALUES = 64;
const LONGEST_TEXT = 100;

const FORM =
  'the name of a member of a request, or one name with a list of values, as { service_tier: [flex] }';

/** A list of rules in which each member stands once. All that is wrong with it is said at once. */
export const MemberRules = z.array(z.unknown()).transform((entries, context): MemberRule[] => {
  const refuse = (message: string, ...path: (string | number)[]) => {
    context.addIssue({ code: 'custom', message, path });
  };
  if (entries.length > MOST_RULES) refuse(`must have at most ${MOST_RULES} entries`);
  const seen = new Set<string>();
  return entries.slice(0, MOST_RULES).flatMap((entry, index): MemberRule[] => {
    const [member, values, ...others] = isName(entry) ? [entry, null] : onlyEntry(entry);
    if (!isName(member) || others.length > 0) {
      refuse(`must be ${FORM}`, index);
      return [];
    }
    if (seen.has(member)) refuse(`the member ${member} is named twice`, index);
    seen.add(member);
    if (values === null) return [{ member, values }];
    if (!Array.isArray(values) || values.length === 0 || values.length > MOST_VALUES) {
      refuse(`must be a list of 1 to ${MOST_VALUES} values`, index, member);
      return [];
    }
    const texts = values.map((one: unknown) => (isScalar(one) ? String(one) : ''));
    if (!texts.every(isName)) {
      refuse(
        `must hold only texts of 1 to ${LONGEST_TEXT} characters, numbers, true or false`,
        index,
        member,
      );
    }
    return [{ member, values: [...new Set(texts)] }];
  });
});

/** The name and the value of a mapping of one; nothing usable for anything else. */
function onlyEntry(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  const [first, ...others] = Object.entries(value);
  // A name without a value says null, which is no list.
  return first ? [first[0], first[1] ?? undefined, ...others] : [];
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= LONGEST_TEXT && isStorableText(value);
}

function isScalar(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}
