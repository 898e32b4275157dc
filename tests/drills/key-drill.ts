import { randomUUID } from 'node:crypto';
import {
  ACCESS_COOKIE,
  auth,
  type OrganizationId,
  organization,
  type ProjectId,
  Secret,
  type UserId,
} from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { openEmbeddedPostgres } from '@gatehouse/embedded';
import { type Database, openDatabase, sql, statement } from '@gatehouse/store';
import { startService } from '../service-process.ts';
import { changeKeysBare, type Owner } from './key-bare.ts';
import { BUDGET_MICRO_PKR } from './key-choices.ts';
import { type CheckedHistory, checkHistory } from './key-history.ts';
import { changeKeys, type Load, numberOf } from './key-load.ts';

export interface Speed {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface Outcome {
  readonly checked: CheckedHistory;
  readonly api: Speed;
  /** The same changes with the driver alone, per number of connections. */
  readonly bare: readonly (Speed & { readonly connections: number })[];
}

const listEntries = statement<
  { organizationId: string },
  { sourceIp: string; action: string; target: string }
>(
  'drill-list-entries',
  sql`SELECT source_ip, action, target FROM activity_events
      WHERE organization_id = ${'organizationId'} AND action LIKE 'api\\_key.%' ORDER BY sequence`,
);

/**
 * Changes the keys of one organisation from many clients over two processes of the API, and checks every answer.
 * Afterwards the same changes are made by the driver alone, once for each number of connections.
 */
export async function runKeyChanges(
  dataDir: string,
  load: Load,
  bareConnections: readonly number[] = [],
): Promise<Outcome> {
  await using stack = new AsyncDisposableStack();
  const environment = { DATA_DIR: dataDir, SIGNUP_CREDIT_PKR: '1000' };
  const first = stack.use(await startService(environment, ['--role', 'api']));
  const second = stack.use(await startService(environment, ['--role', 'api']));
  const server = stack.use(await openEmbeddedPostgres({ dataDir }));
  const database = stack.use(openDatabase(server.connection, { poolSize: 2 }));

  const { client, ...owner } = await signUp(first.apiPort);
  const startedAt = performance.now();
  const calls = await changeKeys(
    {
      ports: [first.apiPort, second.apiPort],
      cookie: [...client.cookies].map((pair) => pair.join('=')).join('; '),
      projectId: owner.projectId,
    },
    load,
  );
  const api = speed(
    calls.map((call) => call.endedAt - call.startedAt),
    performance.now() - startedAt,
  );
  const entries = (await database.many(listEntries, { organizationId: owner.organizationId })).map(
    ({ sourceIp, action, target }) => ({ number: numberOf(sourceIp), action, target }),
  );
  const checked = checkHistory(calls, entries, BUDGET_MICRO_PKR);

  const bare: Outcome['bare'][number][] = [];
  for (const connections of bareConnections) {
    const { client: _, ...other } = await signUp(first.apiPort);
    await using pool = openDatabase(
      { ...server.connection, user: 'gatehouse_service' },
      { poolSize: connections },
    );
    bare.push({ connections, ...(await timedBare(pool, other, load)) });
  }
  return { checked, api, bare };
}

async function timedBare(database: Database, owner: Owner, load: Load): Promise<Speed> {
  const startedAt = performance.now();
  const times = await changeKeysBare(database, owner, load);
  return speed(times, performance.now() - startedAt);
}

async function signUp(port: number): Promise<Owner & { readonly client: ApiClient }> {
  const client = new ApiClient(port);
  const body = { email: `${randomUUID()}@example.com`, password: 'correct horse battery staple' };
  const account = await client.call(auth.register, { body: { ...body, organization_name: randomUUID() } });
  await client.call(auth.login, { body });
  const { projects } = await client.call(organization.listProjects);
  return {
    client,
    organizationId: account.organization.id as OrganizationId,
    userId: account.user.user_id as UserId,
    projectId: (projects[0]?.id ?? '') as ProjectId,
    accessToken: new Secret(client.cookies.get(ACCESS_COOKIE) ?? ''),
  };
}

function speed(times: readonly number[], tookMs: number): Speed {
  const sorted = times.toSorted((a, b) => a - b);
  const quantile = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { perSecond: (times.length / tookMs) * 1_000, p50Ms: quantile(0.5), p99Ms: quantile(0.99) };
}
