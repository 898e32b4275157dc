// Generated from the contract by `npm run generate`; do not edit.

import type { CallOptions } from '../call.ts';
import type { CreateAlertChannelInput, CreateAlertChannelReply } from './create-alert-channel.ts';
import type { CreateKeyInput, CreateKeyReply } from './create-key.ts';
import type { CreateSpendLimitInput, CreateSpendLimitReply } from './create-spend-limit.ts';
import type { DeleteAlertChannelInput, DeleteAlertChannelReply } from './delete-alert-channel.ts';
import type { DeleteSpendLimitInput, DeleteSpendLimitReply } from './delete-spend-limit.ts';
import type { GetBreakdownInput, GetBreakdownReply } from './get-breakdown.ts';
import type { GetBudgetInput, GetBudgetReply } from './get-budget.ts';
import type { GetKeyInput, GetKeyReply } from './get-key.ts';
import type { GetServiceInput, GetServiceReply } from './get-service.ts';
import type { GetSpendInput, GetSpendReply } from './get-spend.ts';
import type { GetSummaryInput, GetSummaryReply } from './get-summary.ts';
import type { GetTimeseriesInput, GetTimeseriesReply } from './get-timeseries.ts';
import type { GetTrendInput, GetTrendReply } from './get-trend.ts';
import type { GetUsageThrottlingInput, GetUsageThrottlingReply } from './get-usage-throttling.ts';
import type { GoogleInput, GoogleReply } from './google.ts';
import type { ListActivityInput, ListActivityReply } from './list-activity.ts';
import type { ListAlertChannelsInput, ListAlertChannelsReply } from './list-alert-channels.ts';
import type { ListAlertDeliveriesInput, ListAlertDeliveriesReply } from './list-alert-deliveries.ts';
import type { ListKeysInput, ListKeysReply } from './list-keys.ts';
import type { ListMembersInput, ListMembersReply } from './list-members.ts';
import type { ListProjectsInput, ListProjectsReply } from './list-projects.ts';
import type { ListRequestsInput, ListRequestsReply } from './list-requests.ts';
import type { ListRoutesInput, ListRoutesReply } from './list-routes.ts';
import type { ListSessionsInput, ListSessionsReply } from './list-sessions.ts';
import type { ListSpendLimitsInput, ListSpendLimitsReply } from './list-spend-limits.ts';
import type { ListVaultKeysInput, ListVaultKeysReply } from './list-vault-keys.ts';
import type { LoginInput, LoginReply } from './login.ts';
import type { LogoutInput, LogoutReply } from './logout.ts';
import type { MeInput, MeReply } from './me.ts';
import type { RefreshInput, RefreshReply } from './refresh.ts';
import type { RegisterInput, RegisterReply } from './register.ts';
import type { RenameOrganizationInput, RenameOrganizationReply } from './rename-organization.ts';
import type { RevokeKeyInput, RevokeKeyReply } from './revoke-key.ts';
import type { RevokeVaultKeyInput, RevokeVaultKeyReply } from './revoke-vault-key.ts';
import type { RotateKeyInput, RotateKeyReply } from './rotate-key.ts';
import type { SetVaultKeyInput, SetVaultKeyReply } from './set-vault-key.ts';
import type { ShowRequestInput, ShowRequestReply } from './show-request.ts';
import type { TestAlertChannelInput, TestAlertChannelReply } from './test-alert-channel.ts';
import type { UpdateKeyInput, UpdateKeyReply } from './update-key.ts';
import type { UpdateSpendLimitInput, UpdateSpendLimitReply } from './update-spend-limit.ts';

/** The calls of the API, by section. */
export interface Sections {
  /** The service itself. */
  readonly service: {
    /** The facts that a client needs before it signs in. May be cached for a minute. */
    getService(input?: GetServiceInput, options?: CallOptions): Promise<GetServiceReply>;
  };
  /** Accounts and their sessions. */
  readonly auth: {
    /** Create an account. It creates the named organisation, or joins it where it exists. */
    register(input: RegisterInput, options?: CallOptions): Promise<RegisterReply>;
    /** Sign in with an e-mail address and a password. */
    login(input: LoginInput, options?: CallOptions): Promise<LoginReply>;
    /** Sign in with a Google account. A new account creates or joins an organisation. */
    google(input: GoogleInput, options?: CallOptions): Promise<GoogleReply>;
    /** Exchange the refresh cookie for a new access cookie. */
    refresh(input?: RefreshInput, options?: CallOptions): Promise<RefreshReply>;
    /** End the session on the server and clear both cookies. */
    logout(input?: LogoutInput, options?: CallOptions): Promise<LogoutReply>;
    /** The account of the session. */
    me(input?: MeInput, options?: CallOptions): Promise<MeReply>;
  };
  /** The organisation, its members and its projects. */
  readonly organization: {
    /** Rename the organisation. */
    renameOrganization(input: RenameOrganizationInput, options?: CallOptions): Promise<RenameOrganizationReply>;
    /** The members of the organisation, in the order of joining. */
    listMembers(input?: ListMembersInput, options?: CallOptions): Promise<ListMembersReply>;
    /** The projects of the organisation, oldest first. */
    listProjects(input?: ListProjectsInput, options?: CallOptions): Promise<ListProjectsReply>;
  };
  /** The routes that a gateway request can name as its model. */
  readonly catalogue: {
    /** The route ids that a request can name as its model, with their prices. */
    listRoutes(input?: ListRoutesInput, options?: CallOptions): Promise<ListRoutesReply>;
  };
  /** Gateway keys and their limits. */
  readonly keys: {
    /** Mint a gateway key. Only this reply contains its secret. */
    createKey(input: CreateKeyInput, options?: CallOptions): Promise<CreateKeyReply>;
    /** The active keys, newest first. Revoked keys are not listed. */
    listKeys(input?: ListKeysInput, options?: CallOptions): Promise<ListKeysReply>;
    /**
     * One active key, with the member who minted it and the secret that it had before, while that is
     * accepted.
     */
    getKey(input: GetKeyInput, options?: CallOptions): Promise<GetKeyReply>;
    /**
     * Replace the rate limit, credit limit and expiry of a key. A credit limit or expiry that is left out
     * is removed. Nothing else of a key can be changed.
     */
    updateKey(input: UpdateKeyInput, options?: CallOptions): Promise<UpdateKeyReply>;
    /**
     * Give a key a new secret, which only this reply contains. The one before is accepted until its grace
     * ends; the one before that ends at once.
     */
    rotateKey(input: RotateKeyInput, options?: CallOptions): Promise<RotateKeyReply>;
    /** Revoke a key. The gateway rejects it from the next request. */
    revokeKey(input: RevokeKeyInput, options?: CallOptions): Promise<RevokeKeyReply>;
    /**
     * The organisation's deposits, spend and holds, and the same of each active key, newest first. All
     * figures are of one moment. The active keys of all pages and revoked_keys add up to the
     * organisation.
     */
    getBudget(input?: GetBudgetInput, options?: CallOptions): Promise<GetBudgetReply>;
  };
  /** Limits of what may be spent in a window of the calendar. */
  readonly limits: {
    /** The spend limits, newest first, with what their open windows have spent and hold. */
    listSpendLimits(input?: ListSpendLimitsInput, options?: CallOptions): Promise<ListSpendLimitsReply>;
    /**
     * Limit what may be spent in a window of the calendar. It counts requests that are admitted after it
     * was made.
     */
    createSpendLimit(input: CreateSpendLimitInput, options?: CallOptions): Promise<CreateSpendLimitReply>;
    /** Change the amount, the mode or the thresholds of a spend limit. It holds for the open window. */
    updateSpendLimit(input: UpdateSpendLimitInput, options?: CallOptions): Promise<UpdateSpendLimitReply>;
    /** Remove a spend limit. From the next request it binds nothing. */
    deleteSpendLimit(input: DeleteSpendLimitInput, options?: CallOptions): Promise<DeleteSpendLimitReply>;
  };
  /** Messages about money and keys, and the places that they are sent to. */
  readonly alerts: {
    /** The places that alerts of money and keys are sent to, newest first. */
    listAlertChannels(input?: ListAlertChannelsInput, options?: CallOptions): Promise<ListAlertChannelsReply>;
    /** Send alerts to a webhook, signed by Standard Webhooks, or to an e-mail address. */
    createAlertChannel(input: CreateAlertChannelInput, options?: CallOptions): Promise<CreateAlertChannelReply>;
    /**
     * Send no more alerts there. What is on its way is dropped, and its deliveries are no longer listed.
     */
    deleteAlertChannel(input: DeleteAlertChannelInput, options?: CallOptions): Promise<DeleteAlertChannelReply>;
    /** Send an `alert.test`, as an alert is sent. The list of deliveries shows how it went. */
    testAlertChannel(input: TestAlertChannelInput, options?: CallOptions): Promise<TestAlertChannelReply>;
    /** The alerts of the last week and whether they arrived, newest first. */
    listAlertDeliveries(input?: ListAlertDeliveriesInput, options?: CallOptions): Promise<ListAlertDeliveriesReply>;
  };
  /** The organisation’s own provider keys. */
  readonly vault: {
    /** Store or replace the organisation’s own key for a provider. */
    setVaultKey(input: SetVaultKeyInput, options?: CallOptions): Promise<SetVaultKeyReply>;
    /** The stored provider keys, by provider name. The keys themselves are never returned. */
    listVaultKeys(input?: ListVaultKeysInput, options?: CallOptions): Promise<ListVaultKeysReply>;
    /** Remove the stored key for a provider. The gateway stops using it from the next request. */
    revokeVaultKey(input: RevokeVaultKeyInput, options?: CallOptions): Promise<RevokeVaultKeyReply>;
  };
  /** Figures and rows of the requests through the gateway. */
  readonly analytics: {
    /** Requests, averages and tokens of a window; with key_id, the cost as well. */
    getSummary(input?: GetSummaryInput, options?: CallOptions): Promise<GetSummaryReply>;
    /**
     * A metric over time: one value per bucket and group, ordered by bucket, then group. Empty buckets
     * are left out.
     */
    getTimeseries(input?: GetTimeseriesInput, options?: CallOptions): Promise<GetTimeseriesReply>;
    /**
     * Cost over time by model, key, project or member, exact to the micro-PKR. The groups and other add
     * up to total, in every bucket. Groups without cost are left out.
     */
    getSpend(input?: GetSpendInput, options?: CallOptions): Promise<GetSpendReply>;
    /**
     * Requests, errors, tokens, cost and quantiles of time, by one property of the requests. The groups
     * and other add up to total.
     */
    getBreakdown(input?: GetBreakdownInput, options?: CallOptions): Promise<GetBreakdownReply>;
    /**
     * Figures over time, in total and by one property of the requests, with those of the window before.
     * The groups and other add up to total, in every bucket.
     */
    getTrend(input?: GetTrendInput, options?: CallOptions): Promise<GetTrendReply>;
    /** The keys that made requests, with how many their own rate limit rejected; most rejected first. */
    getUsageThrottling(input?: GetUsageThrottlingInput, options?: CallOptions): Promise<GetUsageThrottlingReply>;
    /**
     * The request log, newest first: one row per request, or per group of rejected requests. CSV and
     * NDJSON return all rows.
     */
    listRequests(input?: ListRequestsInput, options?: CallOptions): Promise<ListRequestsReply>;
    /**
     * Requests grouped by the values of their metadata under one name, such as the session of a coding
     * agent. Requests without one are left out.
     */
    listSessions(input: ListSessionsInput, options?: CallOptions): Promise<ListSessionsReply>;
    /** One row of the request log, with what was tried at providers. */
    showRequest(input: ShowRequestInput, options?: CallOptions): Promise<ShowRequestReply>;
  };
  /** The log of administrative changes. */
  readonly activity: {
    /** The activity log: what was changed in the organisation and by whom, newest first. */
    listActivity(input?: ListActivityInput, options?: CallOptions): Promise<ListActivityReply>;
  };
}
