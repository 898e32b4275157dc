import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { argumentName, fittingName } from '../peculiarities/request-rules.ts';
import type { Conversation, CustomTool, FunctionTool, Tool, ToolChoice } from './conversation.ts';
import type { Losses } from './losses.ts';
import type { WrittenRequest } from './translator.ts';

/** The names under which a request's tools are sent, and the way back. */
export class ToolNames {
  readonly #longest: number;
  readonly #callersBySent = new Map<string, string>();
  readonly #argumentsByTool = new Map<string, Readonly<Record<string, string>>>();

  constructor(longest: number) {
    this.#longest = longest;
  }

  /** The name that the provider is sent for the caller's name. */
  sent(name: string): string {
    const sent = fittingName(name, this.#longest);
    if (sent !== name) this.#callersBySent.set(sent, name);
    return sent;
  }

  /** The schema of a tool's arguments under names that every provider takes. */
  sentArguments(tool: string, schema: JsonObject): JsonObject {
    const { properties, required } = schema;
    const names = Object.keys(properties ?? {});
    const changed = names.filter((name) => argumentName(name) !== name);
    if (!isJsonObject(properties) || changed.length === 0) return schema;
    this.#argumentsByTool.set(
      this.sent(tool),
      Object.fromEntries(changed.map((name) => [argumentName(name), name])),
    );
    return {
      ...schema,
      properties: Object.fromEntries(names.map((name) => [argumentName(name), properties[name]])),
      ...(Array.isArray(required) && { required: required.map((name) => argumentName(String(name))) }),
    };
  }

  /** The notes for the way back: the caller's names by those sent, and the custom tools among those sent as functions. */
  notes(functions: CallableTools['tools'] = []): Omit<WrittenRequest, 'body'> {
    const customTools = functions.flatMap((tool) => (tool.kind === 'custom' ? this.sent(tool.name) : []));
    const argumentNames = Object.fromEntries(this.#argumentsByTool);
    const toolNames = Object.fromEntries(this.#callersBySent);
    return { customTools, toolNames, ...(this.#argumentsByTool.size > 0 && { argumentNames }) };
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
 * dropped, and so is a second one of the same name; a hosted one that is forced is refused.
 */
export function callableTools({ tools, toolChoice }: Conversation, losses: Losses): CallableTools {
  const callable = withoutRepeated(
    tools.filter((tool) => tool.kind !== 'hosted'),
    losses,
  );
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

/** The first tool of each name: clients that join the tools of several servers declare some twice, which providers refuse. */
function withoutRepeated(tools: CallableTools['tools'], losses: Losses): CallableTools['tools'] {
  const names = new Set<string>();
  return tools.filter(({ name }) => {
    const isRepeated = names.has(name);
    if (isRepeated) losses.lose('unknownMember', `tools[${name}]`);
    names.add(name);
    return !isRepeated;
  });
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
