import { randomUUID } from 'node:crypto';
import { BlockList } from 'node:net';
import { auth, type OrganizationId, type UserId } from '@gatehouse/contract';
import {
  createTelemetryClient,
  type Database,
  type DatabaseTimeouts,
  fixedKeyRing,
  type KeyRing,
  type TelemetryClient,
} from '@gatehouse/store';
import { createTestDatabase, TEST_MASTER_KEY } from '@gatehouse/store/testing';
import { pino } from 'pino';
import type { PageSizes } from '../analytics/index.ts';
import { createControlPlane } from '../app.ts';
import type { DashboardFiles } from '../http/dashboard/dashboard-files.ts';
import type { ControlPlaneSettings } from '../settings.ts';
import { openVault } from '../vault/index.ts';
import { ApiClient } from './api-client.ts';
import { createSignUpPasswords, TEST_PASSWORD } from './sign-up-passwords.ts';

export { TEST_PASSWORD };

/** A running API on a database of its own. */
export interface TestApi extends AsyncDisposable {
  /** With the rights of the service. */
  readonly database: Database;
  /** With every right, for what the service must not do. */
  readonly owner: Database;
  readonly port: number;
  /** A client without a session. */
  anonymous(): ApiClient;
  /** Registers an account (a new organisation unless one is named) and signs it in. */
  signUp(given?: { email?: string; organization?: string }): Promise<SignedUp>;
  /** The lines logged so far, parsed. */
  readonly logLines: Record<string, unknown>[];
}

export interface SignedUp {
  readonly client: ApiClient;
  readonly email: string;
  readonly password: string;
  readonly userId: UserId;
  readonly organizationId: OrganizationId;
  readonly organizationName: string;
}

/** These IPv4 addresses. */
export function addresses(...all: string[]): BlockList {
  const list = new BlockList();
  for (const address of all) list.addAddress(address);
  return list;
}

// Port 1 is reserved and never listened on.
const NOBODY = { url: 'http://127.0.0.1:1' };

/** The settings that a test API has unless the test gives others. */
export const TEST_SETTINGS: ControlPlaneSettings = {
  allowedOrigins: new Set(),
  allowedHosts: '*',
  trustedProxyHops: 1,
  trustedProxies: addresses('127.0.0.1'),
  joinPolicy: 'open',
  signupCreditMicroPkr: 1_000_000_000n,
  google: undefined,
  oidc: undefined,
  passwordSignIn: true,
  publicUrl: undefined,
  signInAttempts: 10,
  signInWindowSeconds: 900,
  registrationsPerNetwork: 20,
  registrationsPerHour: 1_000,
  keysPerOrganization: 10_000,
  rateLimitCeilingRpm: 6_000,
  analyticsTimeoutMs: 10_000,
  alerts: { webhookHosts: new Set(), smtp: undefined },
  gateway: { url: () => 'http://127.0.0.1:8081', port: () => 8081 },
};

/** The parts that a test can replace in the API. */
export interface TestParts {
  /** Left out: a store that refuses every connection. Stays open when the API closes. */
  readonly telemetry?: TelemetryClient;
  readonly nowMicros?: () => bigint;
  readonly monotonicMs?: () => number;
  /** Left out: a ring of the tests' master key. */
  readonly keyRing?: KeyRing;
  /** How long the database is waited for; left out, longer than any test takes. */
  readonly timeouts?: DatabaseTimeouts;
  readonly pages?: PageSizes;
  /** Left out: none, so that a failed query is not retried. */
  readonly retryDelaysMs?: readonly number[];
  /** Left out: no dashboard. */
  readonly dashboard?: () => DashboardFiles;
}

/** Starts the API as `main` would, on any free port. */
export async function startTestApi(
  settings: Partial<ControlPlaneSettings> = {},
  {
    telemetry,
    nowMicros,
    monotonicMs,
    keyRing = fixedKeyRing([TEST_MASTER_KEY]),
    timeouts,
    pages,
    retryDelaysMs = [],
    dashboard,
  }: TestParts = {},
): Promise<TestApi> {
  const stack = new AsyncDisposableStack();
  const test = stack.use(await createTestDatabase(timeouts));
  const logLines: Record<string, unknown>[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => logLines.push(JSON.parse(line)) });
  await openVault(test.database, keyRing, TEST_MASTER_KEY);
  // Longer than any test takes, however slow the machine.
  const permitTimeoutMs = 600_000;
  const passwords = createSignUpPasswords(permitTimeoutMs);
  const server = createControlPlane({
    database: test.database,
    telemetry: telemetry ?? stack.adopt(createTelemetryClient(NOBODY), (client) => client.close()),
    log,
    keyRing,
    permitTimeoutMs,
    passwords,
    ...(nowMicros ? { nowMicros } : {}),
    ...(monotonicMs ? { monotonicMs } : {}),
    ...(pages ? { pages } : {}),
    retryDelaysMs,
    dashboard,
    settings: { ...TEST_SETTINGS, ...settings },
  });
  stack.defer(() => server.close());
  await server.listen({ host: '127.0.0.1', port: 0 });
  const port = (server.server.address() as { port: number }).port;

  return {
    database: test.database,
    owner: test.owner,
    port,
    logLines,
    anonymous: () => new ApiClient(port),
    async signUp({ email = `${randomUUID()}@example.com`, organization = `Org ${randomUUID()}` } = {}) {
      const client = new ApiClient(port);
      const account = await passwords.known(async () => {
        const registered = await client.call(auth.register, {
          body: { email, password: TEST_PASSWORD, organization_name: organization },
        });
        await client.call(auth.login, { body: { email, password: TEST_PASSWORD } });
        return registered;
      });
      return {
        client,
        email,
        password: TEST_PASSWORD,
        userId: account.user.user_id as UserId,
        organizationId: account.organization.id as OrganizationId,
        organizationName: account.organization.name,
      };
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
