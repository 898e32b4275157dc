/** A member of the outermost object of a JSON text. */
export interface OuterMember {
  /** In whatever spelling: `"credit_limit\u005fpkr"` is the same name. */
  readonly name: string;
  /** Its value as it is written, with the space around it. */
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** The members in their order, those that are repeated too; none where the text is no object. The text must be valid JSON. */
export function outerMembers(text: string): OuterMember[] {
  const members: OuterMember[] = [];
  if (!text.trimStart().startsWith('{')) return members;
  let depth = 0;
  let name: string | undefined;
  let start = 0;
  const end = (at: number) => {
    if (name !== undefined) members.push({ name, start, end: at });
    name = undefined;
  };
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const open = at;
      for (at += 1; text.charCodeAt(at) !== QUOTE; at += 1) if (text.charCodeAt(at) === BACKSLASH) at += 1;
      if (depth === 1 && name === undefined) name = JSON.parse(text.slice(open, at + 1)) as string;
    } else if (code === 0x5b || code === 0x7b) {
      depth += 1;
    } else if (code === 0x5d || code === 0x7d) {
      if (depth === 1) end(at);
      depth -= 1;
    } else if (depth === 1 && code === COMMA) {
      end(at);
    } else if (depth === 1 && code === COLON) {
      start = at + 1;
    }
  }
  return members;
}
