import type { AccountChange } from '@gatehouse/control-plane/auth';
import { shown } from '../../terminal/output.ts';

/** The actions that an organisation loses without an active owner; undefined when it has one. */
export function missingOwnerWarning(
  { account, hasChanged, ownersLeft, renamersLeft }: AccountChange,
  isGone: boolean,
): string | undefined {
  if (!hasChanged || account.role === 'member') return undefined;
  const consequences: string[] = [];
  if (renamersLeft === 0) consequences.push('nobody can rename it');
  if (isGone && ownersLeft === 0) consequences.push('nobody can join it where JOIN_POLICY is same-domain');
  if (consequences.length === 0) return undefined;
  const who = renamersLeft > 0 ? 'owner' : 'active owner or admin';
  return `warning: ${shown(account.organization.name)} has no ${who} any more: ${consequences.join(', and ')}`;
}
