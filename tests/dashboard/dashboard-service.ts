import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { auth } from '@gatehouse/contract';
import { type AlertSettings, type OidcSettings, readDashboard } from '@gatehouse/control-plane';
import { prepareCatalogue } from '@gatehouse/control-plane/catalogue';
import { readCatalogue } from '@gatehouse/control-plane/catalogue-file';
import {
  ApiClient,
  addRequests,
  requestRow,
  startTestApi,
  type TestApi,
} from '@gatehouse/control-plane/testing';
import type { RequestLogRow } from '@gatehouse/store';
import { createTestTelemetry, type TestTelemetry } from '@gatehouse/store/testing';
import { fill, type Made } from 'gatehouse/demo';

/** An account that can sign in. */
export interface Person {
  readonly email: string;
  readonly password: string;
}

/** The API with the dashboard, on stores of the test run, with the organisation of `gatehouse demo`. */
export interface DashboardService extends AsyncDisposable {
  /** `http://localhost:PORT` */
  readonly origin: string;
  readonly api: TestApi;
  readonly telemetry: TestTelemetry;
  readonly owner: Person;
  readonly member: Person;
  readonly organization: Made['organization'];
  /** A client of the API with the owner's session, for the figures that a page must show. */
  signIn(person?: Person): Promise<ApiClient>;
  /** Adds requests of the organisation; by default successful ones of its first key, at the current time. */
  add(rows: readonly Partial<RequestLogRow>[]): Promise<void>;
}

export interface DashboardServiceOptions {
  /** Generated requests; 2,000 unless given. */
  readonly rows?: number;
  /** The days before now that they are spread over; 30 unless given. */
  readonly days?: number;
  /**
   * The time of analytics, which stands still. The real time unless given. Within the last 90 days, because older
   * requests cannot be charged.
   */
  readonly now?: Date;
  readonly organizationName?: string;
  /** The provider that takes the place of Google's; none unless given. */
  readonly google?: { readonly issuer: string; readonly clientId: string };
  /** The OpenID issuer; none unless given. */
  readonly oidc?: OidcSettings;
  /** The places that alerts may be sent to; the public ones unless given. */
  readonly alerts?: AlertSettings;
}

const ROOT = join(import.meta.dirname, '../..');
const PASSWORD = 'correct horse battery staple';
const SEED = 14;

/** Starts it in this process; about a second. The same options make the same requests relative to the time. */
export async function startDashboardService(
  options: DashboardServiceOptions = {},
): Promise<DashboardService> {
  const {
    rows = 2_000,
    days = 30,
    now,
    google,
    oidc,
    alerts,
    organizationName = 'Lahore Textiles',
  } = options;
  await using stack = new AsyncDisposableStack();
  const telemetry = stack.use(await createTestTelemetry());
  const dashboard = await readDashboard(join(ROOT, 'dashboard/dist'));
  const nowMicros = now && BigInt(now.getTime()) * 1000n;
  const api = stack.use(
    await startTestApi(
      { signInAttempts: 1_000, google, oidc, ...(alerts && { alerts }) },
      {
        telemetry: telemetry.client,
        dashboard: () => dashboard,
        ...(nowMicros === undefined ? {} : { nowMicros: () => nowMicros }),
      },
    ),
  );
  const catalogue = readCatalogue(await readFile(join(ROOT, 'catalogue.yaml'), 'utf8'), 'catalogue.yaml');
  await prepareCatalogue(api.database, { hasDemo: true, load: async () => catalogue });
  const { organization, owner } = await fill(
    { database: api.database, telemetry: telemetry.client, telemetryDatabase: telemetry.database },
    {
      name: organizationName,
      rows,
      days,
      signal: new AbortController().signal,
      progress: { step: () => undefined, at: () => undefined },
      seed: SEED,
      ...(nowMicros === undefined ? {} : { endMicros: nowMicros }),
    },
    { isJson: true, isTerminal: false, err: () => undefined },
  );
  const member = { email: `member-${randomUUID()}@example.com`, password: PASSWORD };
  await api.anonymous().call(auth.register, { body: { ...member, organization_name: organization.name } });

  const resources = stack.move();
  return {
    origin: `http://localhost:${api.port}`,
    api,
    telemetry,
    owner,
    member,
    organization,
    async signIn(person = owner) {
      const client = new ApiClient(api.port);
      await client.call(auth.login, { body: person });
      return client;
    },
    async add(some) {
      const [key] = organization.keys;
      const startedAtMicros = nowMicros ?? BigInt(Date.now()) * 1000n;
      const defaults = {
        organizationId: organization.id,
        startedAtMicros,
        ...(key && { keyId: key.id, projectId: key.projectId }),
      };
      await addRequests(
        telemetry,
        some.map((row) => requestRow({ ...defaults, ...row })),
      );
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
