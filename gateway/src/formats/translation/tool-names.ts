import { createHash } from 'node:crypto';

/** Characters that the providers of all formats take in names and ids. */
const ALLOWED = /^[a-zA-Z0-9_-]+$/;
const HASH_DIGITS = 10;

/**
 * The text itself where it fits a provider's rule for names and ids, else one that does, the same for the same text: a
 * call and its result, or a declaration and a call, still belong together.
 */
export function fittingName(text: string, longest: number): string {
  if (text.length <= longest && ALLOWED.test(text)) return text;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, HASH_DIGITS);
  return `${text.slice(0, longest - HASH_DIGITS - 1).replaceAll(/[^a-zA-Z0-9_-]/g, '_')}_${hash}`;
}

const SHORT_ID = /^[a-zA-Z0-9]{9}$/;
const SHORT_ID_LENGTH = 9;

/** The id itself, or nine letters and digits, the same for the same id: Mistral takes no other ids of tool calls. */
export function shortId(id: string): string {
  if (SHORT_ID.test(id)) return id;
  const hash = createHash('sha256')
    .update(id)
    .digest('base64')
    .replaceAll(/[^a-zA-Z0-9]/g, '');
  return hash.slice(0, SHORT_ID_LENGTH).padEnd(SHORT_ID_LENGTH, '0');
}

/** The names under which a request's tools are sent, and the way back. */
export class ToolNames {
  readonly #longest: number;
  readonly #callersBySent = new Map<string, string>();

  constructor(longest: number) {
    this.#longest = longest;
  }

  /** The name that the provider is sent for the caller's name. */
  sent(name: string): string {
    const sent = fittingName(name, this.#longest);
    if (sent !== name) this.#callersBySent.set(sent, name);
    return sent;
  }

  /** The caller's names by those sent, of the tools that were renamed. */
  get renamed(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#callersBySent);
  }
}
