import type { Endpoint } from '../endpoint.ts';
import * as activity from './activity.ts';
import * as alerts from './alerts.ts';
import * as analytics from './analytics.ts';
import * as auth from './auth.ts';
import * as catalogue from './catalogue.ts';
import * as keys from './keys.ts';
import * as organization from './organization.ts';
import * as service from './service.ts';
import * as spendLimits from './spend-limits.ts';
import * as vault from './vault.ts';

export { ALERT_TYPES, type AlertType } from './alerts.ts';
export * from './spend-scopes.ts';
export { activity, alerts, analytics, auth, catalogue, keys, organization, service, spendLimits, vault };

/** Every endpoint of the API, in the order in which the documents list them. */
export const endpoints = [
  service.getService,
  auth.register,
  auth.login,
  auth.google,
  auth.refresh,
  auth.logout,
  auth.me,
  organization.renameOrganization,
  organization.listMembers,
  organization.listProjects,
  catalogue.listRoutes,
  keys.createKey,
  keys.listKeys,
  keys.getKey,
  keys.updateKey,
  keys.rotateKey,
  keys.revokeKey,
  keys.getBudget,
  spendLimits.listSpendLimits,
  spendLimits.createSpendLimit,
  spendLimits.updateSpendLimit,
  spendLimits.deleteSpendLimit,
  alerts.listAlertChannels,
  alerts.createAlertChannel,
  alerts.deleteAlertChannel,
  alerts.testAlertChannel,
  alerts.listAlertDeliveries,
  vault.setVaultKey,
  vault.listVaultKeys,
  vault.revokeVaultKey,
  analytics.getSummary,
  analytics.getTimeseries,
  analytics.getSpend,
  analytics.getBreakdown,
  analytics.getTrend,
  analytics.getUsageThrottling,
  analytics.listRequests,
  analytics.listSessions,
  analytics.showRequest,
  activity.listActivity,
] as const satisfies readonly Endpoint[];
