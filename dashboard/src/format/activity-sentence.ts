import type { ActivityEvent } from '@gatehouse/sdk';
import { pkrExact } from './pkr.ts';

/** An event of the activity log, in the words of its sentence: who, what was done, and to what. */
export interface ActivitySentence {
  /** The account; or who acts without one. */
  readonly actor: string;
  readonly isAccount: boolean;
  readonly verb: string;
  /** The object of the action, as others named it; undefined where the verb says it all. */
  readonly object?: string;
  /** After the object. */
  readonly rest?: string;
  /** True if the object is a code rather than a name. */
  readonly isCode?: boolean;
}

type Action = ActivityEvent['action'];

interface Wording {
  /** As a filter: "Key created". */
  readonly label: string;
  readonly verb: string;
  readonly rest?: string;
  readonly object?: 'name' | 'code' | 'amount';
  /** The one who acts in an event without an account: a deleted account, unless the operator does this too, or alone. */
  readonly nobody?: 'operator' | 'either' | 'target';
}

const WORDINGS: Readonly<Record<Action, Wording>> = {
  'user.login': { label: 'Sign-in', verb: 'signed in' },
  'user.logout': { label: 'Sign-out', verb: 'signed out' },
  'api_key.created': { label: 'Key created', verb: 'created the key', object: 'code', nobody: 'either' },
  'api_key.rotated': { label: 'Key rotated', verb: 'gave a new secret to the key', object: 'code' },
  'api_key.updated': { label: 'Key changed', verb: 'changed the limits of the key', object: 'code' },
  'api_key.revoked': { label: 'Key revoked', verb: 'revoked the key', object: 'code', nobody: 'either' },
  'spend_limit.created': { label: 'Spend limit created', verb: 'limited the spend of', object: 'name' },
  'spend_limit.updated': { label: 'Spend limit changed', verb: 'changed the spend limit to', object: 'name' },
  'spend_limit.deleted': { label: 'Spend limit deleted', verb: 'deleted the spend limit of', object: 'name' },
  'alert_channel.created': { label: 'Alerts sent', verb: 'had alerts sent to', object: 'name' },
  'alert_channel.deleted': { label: 'Alerts ended', verb: 'ended the alerts to', object: 'name' },
  'vault_key.set': { label: 'Provider key stored', verb: 'stored a provider key for', object: 'name' },
  'vault_key.revoked': { label: 'Provider key removed', verb: 'removed the provider key of', object: 'name' },
  'org.renamed': {
    label: 'Organisation renamed',
    verb: 'renamed the organisation to',
    object: 'name',
    nobody: 'either',
  },
  'org.created': {
    label: 'Organisation made',
    verb: 'made the organisation',
    object: 'name',
    nobody: 'operator',
  },
  'org.deleted': {
    label: 'Organisation deleted',
    verb: 'deleted the organisation',
    object: 'name',
    nobody: 'operator',
  },
  'member.removed': {
    label: 'Member removed',
    verb: 'removed the account',
    object: 'name',
    nobody: 'operator',
  },
  'member.role_changed': {
    label: 'Role changed',
    verb: 'changed the role of',
    object: 'name',
    nobody: 'operator',
  },
  'member.deactivated': {
    label: 'Member deactivated',
    verb: 'deactivated the account',
    object: 'name',
    nobody: 'operator',
  },
  'member.activated': {
    label: 'Member activated',
    verb: 'activated the account',
    object: 'name',
    nobody: 'operator',
  },
  'project.renamed': {
    label: 'Project renamed',
    verb: 'renamed a project to',
    object: 'name',
    nobody: 'operator',
  },
  'member.joined': { label: 'Member joined', verb: 'joined the organisation', nobody: 'target' },
  'budget.deposited': {
    label: 'Budget changed',
    verb: 'changed the budget by',
    object: 'amount',
    nobody: 'operator',
  },
  'project.byok_fallback_enabled': {
    label: 'Fallback allowed',
    verb: 'let the project',
    object: 'name',
    rest: 'fall back from its own provider keys to the platform',
    nobody: 'operator',
  },
  'project.byok_fallback_disabled': {
    label: 'Fallback ended',
    verb: 'kept the project',
    object: 'name',
    rest: 'to its own provider keys',
    nobody: 'operator',
  },
};

const NOBODY = { operator: 'The operator', either: 'The operator, or a deleted account,' };

/** The kinds of events, as a filter offers them. */
export const ACTIVITY_KINDS: readonly { readonly value: Action; readonly label: string }[] = Object.entries(
  WORDINGS,
).map(([value, { label }]) => ({ value: value as Action, label }));

/** `28900.00 PKR`, as the log has it, like every other amount of the page. */
function amountOf(target: string): string {
  const [, amount] = /^(-?\d{1,15}(?:\.\d{1,6})?) PKR$/.exec(target) ?? [];
  return amount === undefined ? target : pkrExact(Number(amount));
}

export function activitySentence({
  actor,
  action,
  target,
}: Pick<ActivityEvent, 'actor' | 'action' | 'target'>): ActivitySentence {
  // A later version of the service may know more events than this page.
  const wording: Wording | undefined = WORDINGS[action];
  const who = { actor: actor ?? 'A deleted account', isAccount: actor !== null };
  if (wording === undefined) return { ...who, verb: `caused ${action} of`, object: target };
  const { verb, rest, object, nobody } = wording;
  return {
    ...who,
    ...(actor === null && nobody !== undefined
      ? { actor: nobody === 'target' ? target : NOBODY[nobody] }
      : {}),
    verb,
    ...(object === undefined
      ? {}
      : { object: object === 'amount' ? amountOf(target) : target, isCode: object === 'code' }),
    ...(rest === undefined ? {} : { rest }),
  };
}
