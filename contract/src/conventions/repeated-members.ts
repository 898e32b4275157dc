/** The value, in a parsed body, of a member that the body has more than once. Every schema rejects it. */
export class RepeatedMember {
  readonly isRepeated = true;
}

// A string, or a structural character. The rest of a valid JSON text does not matter for its members.
const TOKENS = /"(?:[^"\\]|\\.)*"|[[\]{},:]/g;

/**
 * The `names` that the outermost object of a JSON text has more than once, in any spelling (`"credit_limit\u005fpkr"` is
 * the same member). JSON.parse silently keeps the last of them. The text must be valid JSON.
 */
export function repeatedMembers(text: string, names: ReadonlySet<string>): string[] {
  if (!text.trimStart().startsWith('{')) return [];
  const seen = new Set<string>();
  const repeated = new Set<string>();
  let depth = 0;
  let isName = false;
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === '{' || token === '[') {
      depth += 1;
      isName = depth === 1;
    } else if (token === '}' || token === ']') {
      depth -= 1;
      if (depth === 0) break;
    } else if (depth === 1 && token === ',') {
      isName = true;
    } else if (depth === 1 && isName && token.startsWith('"')) {
      isName = false;
      const name = JSON.parse(token) as string;
      if (!names.has(name)) continue;
      if (seen.has(name)) repeated.add(name);
      seen.add(name);
    }
  }
  return [...repeated];
}
