import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { analytics, auth, keys, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { openEmbeddedClickHouse } from '@gatehouse/embedded';
import { createTelemetryClient } from '@gatehouse/store';
import { startService } from '../service-process.ts';

// One organisation sends as many heavy queries as it can while another works as usual. The other's latency is measured
// against its latency when it is alone.

export interface CrowdOptions {
  /** Rows of the crowd's organisation, over 90 days; the other has a tenth of them. */
  readonly rows: number;
  /** Concurrent queries of the crowd. */
  readonly crowd: number;
  readonly waves: number;
}

/** Latencies of the other organisation in milliseconds, sorted. */
export type Latencies = Readonly<Record<'summary' | 'listKeys' | 'login', readonly number[]>>;

export interface CrowdReport {
  readonly quiet: Latencies;
  readonly crowded: Latencies;
  /** The crowd's answers by status. */
  readonly statuses: ReadonlyMap<number, number>;
  readonly waveMs: readonly number[];
}

interface Account {
  readonly port: number;
  readonly client: ApiClient;
  readonly credentials: { readonly email: string; readonly password: string };
  readonly organizationId: string;
  readonly keyIds: readonly string[];
}

async function signUp(port: number): Promise<Account> {
  const client = new ApiClient(port);
  const credentials = { email: `${randomUUID()}@example.com`, password: 'correct horse battery staple' };
  const account = await client.call(auth.register, {
    body: { ...credentials, organization_name: `Org ${randomUUID()}` },
  });
  await client.call(auth.login, { body: credentials });
  const [project] = (await client.call(organization.listProjects)).projects;
  const mint = async () =>
    (await client.call(keys.createKey, { body: { project_id: project?.id, name: 'k' } })).id;
  const keyIds = [];
  for (let count = 0; count < 20; count += 1) keyIds.push(await mint());
  return { port, client, credentials, organizationId: account.organization.id, keyIds };
}

async function fill(dataDir: string, { organizationId, keyIds }: Account, rows: number): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const engine = stack.use(await openEmbeddedClickHouse({ dataDir }));
  const client = stack.adopt(createTelemetryClient(engine, { requestTimeoutMs: 600_000 }), (it) =>
    it.close(),
  );
  await client.command({
    query: `INSERT INTO request_log (organization_id, timestamp, request_id, key_id, model, status, total_ms,
                                     tokens_generated, total_tokens, metadata)
            SELECT {organization:UUID}, now64(6) - toIntervalMicrosecond(rand64() % (90 * 86400 * 1000000)),
                   toString(generateUUIDv4()),
                   arrayElement({keys:Array(UUID)}, 1 + rand(1) % length({keys:Array(UUID)})),
                   'a/' || toString(rand(2) % 9), 200, rand(3) % 9000 / 8, rand(4) % 900, 900 + rand(4) % 900,
                   map('team', toString(generateUUIDv4()))
            FROM numbers({rows:UInt64})`,
    query_params: { organization: organizationId, keys: keyIds, rows },
    clickhouse_settings: { max_execution_time: 600, max_insert_threads: '1', max_memory_usage: '1500000000' },
  });
}

/** Alternates between a series with one bucket per second and a search that finds nothing. */
async function askHeavily({ client }: Account, nth: number): Promise<number> {
  const [endpoint, query] =
    nth % 2 === 0
      ? [analytics.getTimeseries, { time_range: '90d', interval: '1s', group_by: 'key' }]
      : [analytics.listRequests, { time_range: '90d', search: `nothing ${nth}` }];
  const cookie = [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const path = `/api${endpoint.path}?${new URLSearchParams(query as Record<string, string>)}`;
  return (await client.raw({ method: 'GET', path, headers: { cookie } })).status;
}

/** Sends queries one after the other, with a pause between, for the given time. */
async function goOnAsEver({ port, client, credentials }: Account, isOver: () => boolean): Promise<Latencies> {
  const taken: Record<keyof Latencies, number[]> = { summary: [], listKeys: [], login: [] };
  const time = async (name: keyof Latencies, ask: () => Promise<unknown>) => {
    const start = performance.now();
    await ask();
    taken[name].push(performance.now() - start);
  };
  while (!isOver()) {
    const query = { time_range: '7d' };
    await time('summary', () => client.call(analytics.getSummary, { query }));
    await time('listKeys', () => client.call(keys.listKeys));
    await time('login', () => new ApiClient(port).call(auth.login, { body: credentials }));
    await delay(20);
  }
  for (const all of Object.values(taken)) all.sort((a, b) => a - b);
  return taken;
}

export async function runCrowd(dataDir: string, { rows, crowd, waves }: CrowdOptions): Promise<CrowdReport> {
  await using service = await startService({ DATA_DIR: dataDir });
  const [many, other] = [await signUp(service.apiPort), await signUp(service.apiPort)];
  await fill(dataDir, many, rows);
  await fill(dataDir, other, Math.ceil(rows / 10));

  // Enough answers for a 99th percentile.
  let rounds = 0;
  const quiet = await goOnAsEver(other, () => {
    rounds += 1;
    return rounds > 120;
  });

  let isOver = false;
  const going = goOnAsEver(other, () => isOver);
  const statuses = new Map<number, number>();
  const waveMs: number[] = [];
  for (let wave = 0; wave < waves; wave += 1) {
    const start = performance.now();
    const answers = await Promise.all(Array.from({ length: crowd }, (_, nth) => askHeavily(many, nth)));
    waveMs.push(performance.now() - start);
    for (const status of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  isOver = true;
  const crowded = await going;
  // A query that waits too long gets 503; any other error is a failure.
  for (const status of statuses.keys()) assert.ok(status === 200 || status === 503, `answered ${status}`);
  assert.ok((statuses.get(200) ?? 0) > 0, 'the crowd got no answer at all');
  return { quiet, crowded, statuses, waveMs };
}
