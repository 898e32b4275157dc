import { keys } from '@gatehouse/contract';
import type { RequestLogRow } from '@gatehouse/store';
import { createTestTelemetry, type TestTelemetry } from '@gatehouse/store/testing';
import type { PageSizes } from '../analytics/index.ts';
import { signUpForKeys } from './key-account.ts';
import { addRequests, requestRow } from './requests.ts';
import { type SignedUp, startTestApi, type TestApi } from './test-api.ts';

/** The current time of these tests: 2026-11-20T10:30:00.123456Z. */
export const NOW = 1_795_170_600_123_456n;
export const SECOND = 1_000_000n;
export const DAY = 86_400n * SECOND;

/** An API with a telemetry store of its own. */
export interface AnalyticsApi extends AsyncDisposable {
  readonly api: TestApi;
  readonly telemetry: TestTelemetry;
  /** Inserts requests of the account's organisation, by default at `NOW`. */
  add(account: SignedUp, rows: readonly Partial<RequestLogRow>[]): Promise<void>;
}

/** An account with a key, and a function that inserts requests of that key. */
export async function signUpWithKey(started: AnalyticsApi, name = 'k') {
  const account = await signUpForKeys(started.api);
  const { projectId } = account;
  const mint = (named = 'k') =>
    account.client.call(keys.createKey, { body: { project_id: projectId, name: named } });
  const key = await mint(name);
  const add = (...rows: Partial<RequestLogRow>[]) =>
    started.add(
      account,
      rows.map((row) => ({ keyId: key.id, projectId, ...row })),
    );
  return { ...account, key, mint, add };
}

export async function startAnalyticsApi(parts: { readonly pages?: PageSizes } = {}): Promise<AnalyticsApi> {
  const stack = new AsyncDisposableStack();
  const telemetry = stack.use(await createTestTelemetry());
  const api = stack.use(
    await startTestApi({}, { telemetry: telemetry.client, nowMicros: () => NOW, ...parts }),
  );
  return {
    api,
    telemetry,
    add: ({ organizationId }, rows) =>
      addRequests(
        telemetry,
        rows.map((row) => requestRow({ organizationId, startedAtMicros: NOW, ...row })),
      ),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
