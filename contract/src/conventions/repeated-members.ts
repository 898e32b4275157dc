import { type OuterMember, outerMembers } from './outer-members.ts';

/** The value, in a parsed body, of a member that the body has more than once. Every schema rejects it. */
export class RepeatedMember {
  readonly isRepeated = true;
}

/**
 * The `names` that the outermost object of a JSON text has more than once, in any spelling. JSON.parse silently keeps the last of
 * them. The text must be valid JSON.
 */
export function repeatedMembers(
  text: string,
  names: ReadonlySet<string>,
  members: readonly OuterMember[] = outerMembers(text),
): string[] {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { name } of members) {
    if (!names.has(name)) continue;
    if (seen.has(name)) repeated.add(name);
    seen.add(name);
  }
  return [...repeated];
}
