import type { Call } from '../formats/call.ts';
import { MAX_CALLS } from './usage-bounds.ts';

/** The calls of one name that are reserved where the request does not state a limit of its own. */
const UNSTATED_CALLS = 10;

export type CallLimits = Pick<Call, 'format' | 'toolTypes' | 'toolLimits' | 'members' | 'choices'>;

export interface CallContext {
  /** The names that have a price. */
  readonly names: Iterable<string>;
  /** The types of the tools that are not sent on. */
  readonly droppedTools: ReadonlySet<string>;
}

/**
 * The most calls that a request, as the provider gets it, can make of what is priced per call, by name. A request makes calls of `web_search`
 * when it declares a tool of that type, or of one of its versions (`web_search_20250305`), or has `web_search_options`.
 * Its limit is what the provider may keep to: `max_uses` of the tools in a message request, and elsewhere `max_tool_calls` for all
 * of them.
 */
export function mostCalls(context: CallContext, call: CallLimits): Readonly<Record<string, number>> {
  return callsBy(context, (name) => limitOf(name, context, call));
}

const MAX_TOOL_CALLS = 'max_tool_calls';

/**
 * The `max_tool_calls` that a provider of the Responses API gets: as many calls as credit is held for. It counts all hosted tools together,
 * so no name has more. Undefined where no calls are priced, and for another format.
 */
export function toolCallCap(context: CallContext, call: CallLimits): number | undefined {
  if (call.format !== 'responses') return undefined;
  const counts = Object.values(mostCalls(context, call));
  return counts.length === 0 ? undefined : Math.max(...counts);
}

/**
 * The calls that were made unless the provider says otherwise. A chat model with `web_search_options` searches once for
 * every answer, and its usage does not count that.
 */
export function impliedCalls(context: CallContext, call: CallLimits): Readonly<Record<string, number>> {
  return callsBy(context, (name) => (hasOptions(name, call) ? call.choices : 0));
}

function callsBy({ names }: CallContext, count: (name: string) => number): Readonly<Record<string, number>> {
  const counts = Array.from(names, (name) => [name, count(name)] as const);
  return Object.fromEntries(counts.filter(([, calls]) => calls > 0));
}

function limitOf(name: string, { droppedTools }: CallContext, call: CallLimits): number {
  const { format, toolLimits, members, choices } = call;
  const isOfName = (type: string) => type === name || type.startsWith(`${name}_`);
  const types = call.toolTypes.filter((type) => isOfName(type) && !droppedTools.has(type));
  const isUnlimited = hasOptions(name, call);
  if (types.length === 0 && !isUnlimited) return 0;
  const ofTools =
    isUnlimited || format !== 'messages'
      ? Number.NaN
      : types.reduce((sum, type) => sum + (toolLimits.get(type) ?? Number.NaN), 0);
  const ofAll = format === 'messages' ? undefined : members.get(MAX_TOOL_CALLS);
  const stated = [ofTools, ofAll].filter((limit) => typeof limit === 'number' && limit >= 0) as number[];
  // A chat model that searches does so once, whatever it is told.
  const least = format === 'chat' ? 1 : 0;
  const limit = stated.length === 0 ? UNSTATED_CALLS : Math.max(Math.min(...stated), least);
  return Math.min(Math.ceil(limit) * Math.max(choices, 1), MAX_CALLS);
}

function hasOptions(name: string, { members }: CallLimits): boolean {
  const options = `${name}_options`;
  // A value that is too large to be kept is undefined.
  return members.has(options) && members.get(options) !== null;
}
