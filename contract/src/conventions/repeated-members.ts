/** Stands in a parsed body for the value of a member that the body gave more than once. Every schema refuses it. */
export class RepeatedMember {
  readonly isRepeated = true;
}

// A string, or a character that opens, closes or separates. All else of a valid JSON text says nothing of its members.
const TOKENS = /"(?:[^"\\]|\\.)*"|[[\]{},:]/g;

/**
 * The names among `names` that the outermost object of a JSON text gives more than once, however they are spelled
 * (`"credit_limit\u005fpkr"` is the same member). JSON.parse keeps the last of them without a word. The text must be
 * valid JSON.
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
