import { createHash } from 'node:crypto';
import type { Conversation, CustomTool, FunctionTool, Tool, ToolChoice } from './conversation.ts';
import type { Losses } from './losses.ts';

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

/** A tool choice that every format has a word for. */
export type PlainToolChoice =
  | { readonly mode: 'auto' | 'none' | 'required' }
  | { readonly mode: 'tool'; readonly name: string };

export interface CallableTools {
  readonly tools: readonly (FunctionTool | CustomTool)[];
  readonly choice: PlainToolChoice | undefined;
}

/**
 * The tools that any provider can be asked to call, and the choice among them. A hosted tool that is only declared is
 * dropped; one that is forced is refused.
 */
export function callableTools({ tools, toolChoice }: Conversation, losses: Losses): CallableTools {
  const callable = tools.filter((tool) => tool.kind !== 'hosted');
  // With nothing else to call, that there must be a call forces the hosted tool.
  const isForced =
    toolChoice?.mode === 'hosted' ||
    (callable.length === 0 &&
      tools.length > 0 &&
      (toolChoice?.mode === 'required' || toolChoice?.mode === 'tool'));
  if (isForced) losses.lose('forcedHostedTool');
  for (const tool of tools) {
    if (tool.kind === 'hosted') losses.lose('hostedTools', `tools[${tool.type}]`);
  }
  if (toolChoice?.mode === 'hosted') return { tools: callable, choice: undefined };
  if (toolChoice?.mode !== 'allowed') return { tools: callable, choice: toolChoice };
  return narrowed(callable, toolChoice);
}

/** Only the allowed tools are declared: then none of the others can be called. */
function narrowed(
  tools: readonly Exclude<Tool, { kind: 'hosted' }>[],
  { names, isRequired }: Extract<ToolChoice, { mode: 'allowed' }>,
): CallableTools {
  const allowed = new Set(names);
  return {
    tools: tools.filter(({ name }) => allowed.has(name)),
    choice: { mode: isRequired ? 'required' : 'auto' },
  };
}
