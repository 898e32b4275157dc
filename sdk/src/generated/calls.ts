// Generated from the contract by `npm run generate`; do not edit.

import { createAlertChannel, type CreateAlertChannelInput, type CreateAlertChannelReply } from './create-alert-channel.ts';
import { createKey, type CreateKeyInput, type CreateKeyReply } from './create-key.ts';
import { createSpendLimit, type CreateSpendLimitInput, type CreateSpendLimitReply } from './create-spend-limit.ts';
import { deleteAlertChannel, type DeleteAlertChannelInput, type DeleteAlertChannelReply } from './delete-alert-channel.ts';
import { deleteSpendLimit, type DeleteSpendLimitInput, type DeleteSpendLimitReply } from './delete-spend-limit.ts';
import { getBreakdown, type GetBreakdownInput, type GetBreakdownReply } from './get-breakdown.ts';
import { getBudget, type GetBudgetInput, type GetBudgetReply } from './get-budget.ts';
import { getKey, type GetKeyInput, type GetKeyReply } from './get-key.ts';
import { getService, type GetServiceInput, type GetServiceReply } from './get-service.ts';
import { getSpend, type GetSpendInput, type GetSpendReply } from './get-spend.ts';
import { getSummary, type GetSummaryInput, type GetSummaryReply } from './get-summary.ts';
import { getTimeseries, type GetTimeseriesInput, type GetTimeseriesReply } from './get-timeseries.ts';
import { getTrend, type GetTrendInput, type GetTrendReply } from './get-trend.ts';
import { getUsageThrottling, type GetUsageThrottlingInput, type GetUsageThrottlingReply } from './get-usage-throttling.ts';
import { google, type GoogleInput, type GoogleReply } from './google.ts';
import { listActivity, type ListActivityInput, type ListActivityReply } from './list-activity.ts';
import { listAlertChannels, type ListAlertChannelsInput, type ListAlertChannelsReply } from './list-alert-channels.ts';
import { listAlertDeliveries, type ListAlertDeliveriesInput, type ListAlertDeliveriesReply } from './list-alert-deliveries.ts';
import { listKeys, type ListKeysInput, type ListKeysReply } from './list-keys.ts';
import { listMembers, type ListMembersInput, type ListMembersReply } from './list-members.ts';
import { listProjects, type ListProjectsInput, type ListProjectsReply } from './list-projects.ts';
import { listRequests, type ListRequestsInput, type ListRequestsReply } from './list-requests.ts';
import { listRoutes, type ListRoutesInput, type ListRoutesReply } from './list-routes.ts';
import { listSessions, type ListSessionsInput, type ListSessionsReply } from './list-sessions.ts';
import { listSpendLimits, type ListSpendLimitsInput, type ListSpendLimitsReply } from './list-spend-limits.ts';
import { listVaultKeys, type ListVaultKeysInput, type ListVaultKeysReply } from './list-vault-keys.ts';
import { login, type LoginInput, type LoginReply } from './login.ts';
import { logout, type LogoutInput, type LogoutReply } from './logout.ts';
import { me, type MeInput, type MeReply } from './me.ts';
import { refresh, type RefreshInput, type RefreshReply } from './refresh.ts';
import { register, type RegisterInput, type RegisterReply } from './register.ts';
import { renameOrganization, type RenameOrganizationInput, type RenameOrganizationReply } from './rename-organization.ts';
import { revokeKey, type RevokeKeyInput, type RevokeKeyReply } from './revoke-key.ts';
import { revokeVaultKey, type RevokeVaultKeyInput, type RevokeVaultKeyReply } from './revoke-vault-key.ts';
import { rotateKey, type RotateKeyInput, type RotateKeyReply } from './rotate-key.ts';
import { setVaultKey, type SetVaultKeyInput, type SetVaultKeyReply } from './set-vault-key.ts';
import { showRequest, type ShowRequestInput, type ShowRequestReply } from './show-request.ts';
import { testAlertChannel, type TestAlertChannelInput, type TestAlertChannelReply } from './test-alert-channel.ts';
import { updateKey, type UpdateKeyInput, type UpdateKeyReply } from './update-key.ts';
import { updateSpendLimit, type UpdateSpendLimitInput, type UpdateSpendLimitReply } from './update-spend-limit.ts';

/** Every call of the API, by section. */
export const calls = {
  service: { getService },
  auth: { register, login, google, refresh, logout, me },
  organization: { renameOrganization, listMembers, listProjects },
  catalogue: { listRoutes },
  keys: { createKey, listKeys, getKey, updateKey, rotateKey, revokeKey, getBudget },
  limits: { listSpendLimits, createSpendLimit, updateSpendLimit, deleteSpendLimit },
  alerts: { listAlertChannels, createAlertChannel, deleteAlertChannel, testAlertChannel, listAlertDeliveries },
  vault: { setVaultKey, listVaultKeys, revokeVaultKey },
  analytics: { getSummary, getTimeseries, getSpend, getBreakdown, getTrend, getUsageThrottling, listRequests, listSessions, showRequest },
  activity: { listActivity },
} as const;

/** The input of each call. */
export interface Inputs {
  readonly getService: GetServiceInput;
  readonly register: RegisterInput;
  readonly login: LoginInput;
  readonly google: GoogleInput;
  readonly refresh: RefreshInput;
  readonly logout: LogoutInput;
  readonly me: MeInput;
  readonly renameOrganization: RenameOrganizationInput;
  readonly listMembers: ListMembersInput;
  readonly listProjects: ListProjectsInput;
  readonly listRoutes: ListRoutesInput;
  readonly createKey: CreateKeyInput;
  readonly listKeys: ListKeysInput;
  readonly getKey: GetKeyInput;
  readonly updateKey: UpdateKeyInput;
  readonly rotateKey: RotateKeyInput;
  readonly revokeKey: RevokeKeyInput;
  readonly getBudget: GetBudgetInput;
  readonly listSpendLimits: ListSpendLimitsInput;
  readonly createSpendLimit: CreateSpendLimitInput;
  readonly updateSpendLimit: UpdateSpendLimitInput;
  readonly deleteSpendLimit: DeleteSpendLimitInput;
  readonly listAlertChannels: ListAlertChannelsInput;
  readonly createAlertChannel: CreateAlertChannelInput;
  readonly deleteAlertChannel: DeleteAlertChannelInput;
  readonly testAlertChannel: TestAlertChannelInput;
  readonly listAlertDeliveries: ListAlertDeliveriesInput;
  readonly setVaultKey: SetVaultKeyInput;
  readonly listVaultKeys: ListVaultKeysInput;
  readonly revokeVaultKey: RevokeVaultKeyInput;
  readonly getSummary: GetSummaryInput;
  readonly getTimeseries: GetTimeseriesInput;
  readonly getSpend: GetSpendInput;
  readonly getBreakdown: GetBreakdownInput;
  readonly getTrend: GetTrendInput;
  readonly getUsageThrottling: GetUsageThrottlingInput;
  readonly listRequests: ListRequestsInput;
  readonly listSessions: ListSessionsInput;
  readonly showRequest: ShowRequestInput;
  readonly listActivity: ListActivityInput;
}

/** The reply of each call. */
export interface Replies {
  readonly getService: GetServiceReply;
  readonly register: RegisterReply;
  readonly login: LoginReply;
  readonly google: GoogleReply;
  readonly refresh: RefreshReply;
  readonly logout: LogoutReply;
  readonly me: MeReply;
  readonly renameOrganization: RenameOrganizationReply;
  readonly listMembers: ListMembersReply;
  readonly listProjects: ListProjectsReply;
  readonly listRoutes: ListRoutesReply;
  readonly createKey: CreateKeyReply;
  readonly listKeys: ListKeysReply;
  readonly getKey: GetKeyReply;
  readonly updateKey: UpdateKeyReply;
  readonly rotateKey: RotateKeyReply;
  readonly revokeKey: RevokeKeyReply;
  readonly getBudget: GetBudgetReply;
  readonly listSpendLimits: ListSpendLimitsReply;
  readonly createSpendLimit: CreateSpendLimitReply;
  readonly updateSpendLimit: UpdateSpendLimitReply;
  readonly deleteSpendLimit: DeleteSpendLimitReply;
  readonly listAlertChannels: ListAlertChannelsReply;
  readonly createAlertChannel: CreateAlertChannelReply;
  readonly deleteAlertChannel: DeleteAlertChannelReply;
  readonly testAlertChannel: TestAlertChannelReply;
  readonly listAlertDeliveries: ListAlertDeliveriesReply;
  readonly setVaultKey: SetVaultKeyReply;
  readonly listVaultKeys: ListVaultKeysReply;
  readonly revokeVaultKey: RevokeVaultKeyReply;
  readonly getSummary: GetSummaryReply;
  readonly getTimeseries: GetTimeseriesReply;
  readonly getSpend: GetSpendReply;
  readonly getBreakdown: GetBreakdownReply;
  readonly getTrend: GetTrendReply;
  readonly getUsageThrottling: GetUsageThrottlingReply;
  readonly listRequests: ListRequestsReply;
  readonly listSessions: ListSessionsReply;
  readonly showRequest: ShowRequestReply;
  readonly listActivity: ListActivityReply;
}
