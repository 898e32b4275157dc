// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';
import type { ActivityEvent } from './schemas.ts';

/** The input of `listActivity`. */
export interface ListActivityInput {
  /** Rows in the page; more than 200 is lowered to 200. At least 1; `50` unless given. */
  limit?: number | undefined;
  /** Rows to skip before the page. 0 to 9007199254740991; `0` unless given. */
  offset?: number | undefined;
  /**
   * Only events up to this time. Pass the timestamp of the first event of the first page to keep later
   * pages stable while the log grows.
   */
  until?: string | undefined;
  /** Only events of this kind. */
  action?: 'user.login' | 'user.logout' | 'api_key.created' | 'api_key.revoked' | 'api_key.updated' | 'api_key.rotated' | 'vault_key.set' | 'vault_key.revoked' | 'org.renamed' | 'member.joined' | 'budget.deposited' | 'spend_limit.created' | 'spend_limit.updated' | 'spend_limit.deleted' | 'alert_channel.created' | 'alert_channel.deleted' | 'org.created' | 'org.deleted' | 'member.removed' | 'member.role_changed' | 'member.deactivated' | 'member.activated' | 'project.renamed' | 'project.byok_fallback_enabled' | 'project.byok_fallback_disabled' | undefined;
  /** Only what the account with this email did; case-insensitive. */
  actor?: string | undefined;
}

/** The reply of `listActivity`. */
export interface ListActivityReply {
  readonly events: readonly ActivityEvent[];
  readonly limit: number;
  readonly offset: number;
}

/** GET /activity: The activity log: what was changed in the organisation and by whom, newest first. */
export const listActivity = {
  name: 'listActivity',
  method: 'GET',
  path: '/activity',
  query: ['limit', 'offset', 'until', 'action', 'actor'],
  headers: {},
  body: undefined,
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['events', 'limit', 'offset'],
} as const satisfies Call;
