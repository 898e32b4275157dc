/** The events that the activity log can record. */
export const ACTIVITY_ACTIONS = [
  'user.login',
  'user.logout',
  'api_key.created',
  'api_key.revoked',
  'api_key.updated',
  'api_key.rotated',
  'vault_key.set',
  'vault_key.revoked',
  'org.renamed',
  'member.joined',
  'budget.deposited',
  // Additions to the specified ones.
  'spend_limit.created',
  'spend_limit.updated',
  'spend_limit.deleted',
  'alert_channel.created',
  'alert_channel.deleted',
  // By the operator only.
  'org.created',
  'org.deleted',
  'member.removed',
  'member.role_changed',
  'member.deactivated',
  'member.activated',
  'project.renamed',
  'project.byok_fallback_enabled',
  'project.byok_fallback_disabled',
] as const;

export type ActivityAction = (typeof ACTIVITY_ACTIONS)[number];
