import { isStorableText, type MemberRule } from '@gatehouse/contract';
import { z } from 'zod';

// The file format of `deny` and `allow`: each entry is a member's name, or one name with a list of values.

const MAX_RULES = 64;
const MAX_VALUES = 64;
const MAX_TEXT_LENGTH = 100;

const FORM =
  'the name of a member of a request, or one name with a list of values, as { service_tier: [flex] }';

/** A list of rules with at most one per member. Reports every issue at once. */
export const MemberRules = z.array(z.unknown()).transform((entries, context): MemberRule[] => {
  const addIssue = (message: string, ...path: (string | number)[]) => {
    context.addIssue({ code: 'custom', message, path });
  };
  if (entries.length > MAX_RULES) addIssue(`must have at most ${MAX_RULES} entries`);
  const seen = new Set<string>();
  return entries.slice(0, MAX_RULES).flatMap((entry, index): MemberRule[] => {
    const [member, values, ...others] = isName(entry) ? [entry, null] : onlyEntry(entry);
    if (!isName(member) || others.length > 0) {
      addIssue(`must be ${FORM}`, index);
      return [];
    }
    if (seen.has(member)) addIssue(`the member ${member} is named twice`, index);
    seen.add(member);
    if (values === null) return [{ member, values }];
    if (!Array.isArray(values) || values.length === 0 || values.length > MAX_VALUES) {
      addIssue(`must be a list of 1 to ${MAX_VALUES} values`, index, member);
      return [];
    }
    const texts = values.map((one: unknown) => (isScalar(one) ? String(one) : ''));
    if (!texts.every(isName)) {
      addIssue(
        `must contain only texts of 1 to ${MAX_TEXT_LENGTH} characters, numbers, true or false`,
        index,
        member,
      );
    }
    return [{ member, values: [...new Set(texts)] }];
  });
});

/** The name and value of a mapping with one entry; an empty list for anything else. */
function onlyEntry(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  const [first, ...others] = Object.entries(value);
  // A name without a value is null in YAML; here null would mean the member as a whole.
  return first ? [first[0], first[1] ?? undefined, ...others] : [];
}

function isName(value: unknown): value is string {
  return (
    typeof value === 'string' && value !== '' && value.length <= MAX_TEXT_LENGTH && isStorableText(value)
  );
}

function isScalar(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}
