import type { Call } from '../protocols/call.ts';
import { MOST_CALLS } from './usage-bounds.ts';

/** So many calls of one name are reserved where the request does not state a limit of its own. */
export const UNSTATED_CALLS = 10;

export type CallLimits = Pick<Call, 'toolTypes' | 'toolLimits' | 'members' | 'choices'>;

/**
 * The most calls that the request can make of what is priced per call, by name. A request makes calls of `web_search`
 * when it declares a tool of that type, or of one of its versions (`web_search_20250305`), or has `web_search_options`.
 * Its limit is what the tools state in `max_uses`, and `max_tool_calls` for all of them.
 */
export function mostCalls(
  { names, isTranslated }: { readonly names: Iterable<string>; readonly isTranslated: boolean },
  call: CallLimits,
): Readonly<Record<string, number>> {
  // No tool that the provider runs is translated.
  if (isTranslated) return {};
  const limits = Array.from(names, (name) => [name, limitOf(name, call)] as const);
  return Object.fromEntries(limits.filter(([, limit]) => limit > 0));
}

function limitOf(name: string, { toolTypes, toolLimits, members, choices }: CallLimits): number {
  const types = toolTypes.filter((type) => type === name || type.startsWith(`${name}_`));
  const options = members.get(`${name}_options`);
  // A value that is too large to be kept is undefined.
  const hasOptions = members.has(`${name}_options`) && options !== null;
  if (types.length === 0 && !hasOptions) return 0;
  const ofTools = hasOptions
    ? Number.NaN
    : types.reduce((sum, type) => sum + (toolLimits.get(type) ?? Number.NaN), 0);
  const ofAll = members.get('max_tool_calls');
  const stated = [ofTools, ofAll].filter((limit) => typeof limit === 'number' && limit >= 0) as number[];
  const limit = stated.length === 0 ? UNSTATED_CALLS : Math.min(...stated);
  return Math.min(Math.ceil(limit) * Math.max(choices, 1), MOST_CALLS);
}
