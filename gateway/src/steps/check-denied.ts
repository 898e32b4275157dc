import type { MemberRule } from '@gatehouse/contract';
import type { Target } from '../catalogue/route.ts';
import type { Context } from '../context/context.ts';
import { invalidRequest } from '../errors/gateway-error.ts';
import { type PermittedCandidate, type TranslatedCandidate, usable } from '../routing/candidate.ts';
import { type DeniedMember, deniedMember } from './denied-member.ts';

const MAX_ECHO_LENGTH = 64;
const TOOLS = 'tools';

/**
 * 400 that names a member which would make the provider charge more than the route's price says, or lead around it.
 * Where the organisation's own key is used, the bill is its own and everything passes. A hosted tool that is only
 * declared, as some clients do on every turn, is left out instead. A candidate that would have to refuse is left out; the 400
 * is for a request that none can take.
 */
export function checkDenied({
  route,
  translated,
}: Pick<Context, 'route' | 'translated'>): Pick<Context, 'permitted'> {
  return {
    permitted: usable(translated, (candidate) => toolsToDrop(route, candidate)),
  };
}

/** The tools that are left out of a call to one target. Throws the 400. */
export function toolsToDrop(
  route: Context['route'],
  { isByok, target, providerCall: call }: Pick<TranslatedCandidate, 'isByok' | 'target' | 'providerCall'>,
): Pick<PermittedCandidate, 'droppedTools'> {
  const droppedTools = new Set<string>();
  if (isByok) return { droppedTools };
  const { provider } = target;
  const { dispensableTools = [] } = call;
  const allowed = () => [...provider.allow, ...route.allow, ...pricedTools(target, call)];
  while (true) {
    const denied = deniedMember(provider.deny, allowed, without(call, droppedTools));
    if (!denied) return { droppedTools };
    const { member, value } = denied;
    const mayGo = member.toLowerCase() === TOOLS && value !== undefined && dispensableTools.includes(value);
    if (!mayGo || droppedTools.has(value)) throw refusal(route, provider, denied);
    droppedTools.add(value);
  }
}

// Versions of a hosted tool: `web_search_20250305`, `web_search_2025_08_26`.
const VERSION = /^_\d{4}_?\d{2}_?\d{2}$/;

/** The tools that the route's prices of calls cover, as far as the call asks for them. */
function pricedTools(
  { microPkrPerCall }: Pick<Target, 'microPkrPerCall'>,
  { toolTypes }: Pick<Context['call'], 'toolTypes'>,
): MemberRule[] {
  return Array.from(microPkrPerCall.keys()).flatMap((name) => [
    {
      member: TOOLS,
      values: toolTypes.filter(
        (type) => type === name || (type.startsWith(name) && VERSION.test(type.slice(name.length))),
      ),
    },
    { member: `${name}_options`, values: null },
  ]);
}

/** The members that are judged of a call whose tools of these types are left out. */
function without({ members, toolTypes, references }: Context['call'], dropped: ReadonlySet<string>) {
  if (dropped.size === 0) return { members, toolTypes, references };
  const kept = toolTypes.filter((type) => !dropped.has(type));
  const others = new Map(members);
  if (kept.length === 0) others.delete(TOOLS);
  return { members: others, toolTypes: kept, references };
}

function refusal(
  { id }: Context['route'],
  provider: Target['provider'],
  { member, value, allowed }: DeniedMember,
) {
  const accepted = allowed.length === 0 ? '' : ` Accepted: ${allowed.join(', ')}.`;
  return invalidRequest(
    `${member}${inWords(value)} is not part of the price of the model ${id}.${accepted} Leave it out, or store your organization's own key for the provider ${provider.name}.`,
    // The id of a stored prompt is denied, and a prompt is not.
    member.split('.')[0],
  );
}

function inWords(value: string | undefined): string {
  if (value === undefined) return '';
  return ` ${JSON.stringify(value.length > MAX_ECHO_LENGTH ? `${value.slice(0, MAX_ECHO_LENGTH)}…` : value)}`;
}
