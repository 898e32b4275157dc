import { invalidRequest } from '../http/gateway-error.ts';
import type { Context } from '../pipeline/context.ts';
import { deniedMember } from './denied-member.ts';

const LONGEST_ECHO = 64;

/**
 * 400 that names a member which would make the provider charge more than the route's price says, or lead around it.
 * Where the organisation's own key is used, the bill is its own and everything passes.
 */
export function checkDenied({ isByok, route, call }: Pick<Context, 'isByok' | 'route' | 'call'>): void {
  if (isByok) return;
  const { provider } = route;
  const denied = deniedMember(provider.deny, route.allow, call);
  if (!denied) return;
  const { member, value, allowed } = denied;
  const accepted = allowed.length === 0 ? '' : ` Accepted: ${allowed.join(', ')}.`;
  throw invalidRequest(
    `${member}${inWords(value)} is not part of the price of the model ${route.id}.${accepted} Leave it out, or store your organization's own key for the provider ${provider.name}.`,
    member,
  );
}

function inWords(value: string | undefined): string {
  if (value === undefined) return '';
  return ` ${JSON.stringify(value.length > LONGEST_ECHO ? `${value.slice(0, LONGEST_ECHO)}…` : value)}`;
}
