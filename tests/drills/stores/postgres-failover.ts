import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { auth, keys, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { completion, json, startMockProvider } from '@gatehouse/gateway/testing';
import { type Database, openDatabase, sql, statement } from '@gatehouse/store';
import { pooledSessionStatements, startPgBouncer, whyNoPgBouncer } from '../../pgbouncer.ts';
import { eventually, startService } from '../../service-process.ts';
import { changeThings, checkChanges, nothingTold } from '../changes-load.ts';
import { type Drill, type DrillSettings, runParts } from '../drill.ts';
import { COST_MICRO_PKR, setRateLimit } from '../gateway-fleet.ts';
import { findPrograms, type PostgresPair, startPair } from './postgres-pair.ts';

// Kills the primary of PostgreSQL under changes and gateway requests, makes its synchronous standby the primary a second later,
// and builds a new standby. DATABASE_URL names both servers and never changes; in the part `pgbouncer` it names a PgBouncer, which is told
// of the new primary.

const CHANGERS = 3;
const CALLERS = 4;
const UP_MS = 2_000;
const AWAY_MS = 1_000;
const PAUSE_MS = 20;
/** From the promotion to the next answer. */
const MAX_PAUSE_MS = 2_000;
const LOGIN = 'drill_service';
const CREDENTIALS = { email: 'drill@example.com', password: 'correct horse battery staple' };
const BODY = JSON.stringify({
  model: 'mock/model',
  max_completion_tokens: 10,
  messages: [{ role: 'user', content: 'Hi' }],
});

const listSettlements = statement<{ keyId: string }, { id: string; costMicroPkr: bigint }>(
  'drill-failover-settlements',
  sql`SELECT request_id::text AS id, cost_micro_pkr FROM settlements WHERE key_id = ${'keyId'}`,
);

interface Answers {
  readonly served: string[];
  /** When requests were served, of the gateway and of the API. */
  readonly gatewayAtMs: number[];
  readonly apiAtMs: number[];
  unavailable: number;
  readonly broken: string[];
}

const PARTS = { direct: failingOver(false), pgbouncer: failingOver(true) };

export const drill: Drill = (settings) => runParts(PARTS, settings);

function failingOver(isPooled: boolean): Drill {
  return async (settings) => {
    const programs = await findPrograms();
    const reason =
      programs === undefined
        ? 'it needs the PostgreSQL of Debian, for pg_basebackup'
        : isPooled && whyNoPgBouncer();
    if (programs !== undefined && !reason) return await failOver(programs, settings, isPooled);
    settings.log(`skipped: ${reason}`);
    return [];
  };
}

/** PgBouncer in transaction mode, for a login that has no rights of its own. */
async function startPooler(pair: PostgresPair) {
  const serverOf = (port: number) => ({ host: '127.0.0.1', port, database: 'postgres' });
  await using owner = openDatabase({ url: pair.url }, { poolSize: 1 });
  const direct = await owner.connect();
  await direct.query(
    `CREATE ROLE gatehouse_service NOLOGIN; CREATE ROLE gatehouse_retention NOLOGIN; CREATE ROLE ${LOGIN} LOGIN; GRANT gatehouse_service TO ${LOGIN}`,
  );
  await direct.query(
    await pooledSessionStatements(`postgres://${LOGIN}@127.0.0.1:${pair.primaryPort()}/postgres`),
  );
  await direct.end();
  const pooler = await startPgBouncer(serverOf(pair.primaryPort()), LOGIN);
  return {
    url: pooler.url,
    /** Points it to the server that is the primary now. */
    follow: () => pooler.pointTo(serverOf(pair.primaryPort())),
    [Symbol.asyncDispose]: () => pooler[Symbol.asyncDispose](),
  };
}

async function failOver(
  programs: string,
  { cycles, log }: DrillSettings,
  isPooled: boolean,
): Promise<readonly string[]> {
  await using stack = new AsyncDisposableStack();
  const directory = stack.adopt(await mkdtemp(join(tmpdir(), 'gatehouse-failover-')), (path) =>
    rm(path, { recursive: true, force: true }),
  );
  await chmod(directory, 0o755);
  await mkdir(join(directory, 'pair'));
  const pair = stack.use(await startPair(programs, join(directory, 'pair')));
  const pooler = isPooled ? stack.use(await startPooler(pair)) : undefined;
  const provider = stack.use(await startMockProvider());
  provider.script = json(completion('x', { prompt: 8, completion: 10 }));
  await writeFile(
    join(directory, 'catalogue.yaml'),
    `providers: { mock: { protocol: openai, base_url: "${provider.baseUrl}" } }
routes:
  - { id: mock/model, provider: mock, upstream_model: m, price_pkr_per_million: { input: 70, output: 560 }, max_output_tokens: 1000 }
`,
  );
  const service = stack.use(
    await startService({
      DATA_DIR: join(directory, 'data'),
      CATALOGUE: join(directory, 'catalogue.yaml'),
      ...(pooler === undefined
        ? { DATABASE_URL: pair.url }
        : { DATABASE_URL: pooler.url, DATABASE_OWNER_URL: pair.url, DATABASE_POOLER: 'transaction' }),
      GATEHOUSE_MASTER_KEY: randomBytes(32).toString('base64'),
      JOIN_POLICY: 'open',
      SIGNUP_CREDIT_PKR: '1000000',
      REGISTRATIONS_PER_NETWORK: '1000',
    }),
  );
  const api = new ApiClient(service.apiPort);
  await api.call(auth.register, { body: { ...CREDENTIALS, organization_name: 'Drill' } });
  await api.call(auth.login, { body: CREDENTIALS });
  const project = (await api.call(organization.listProjects)).projects[0];
  const key = await api.call(keys.createKey, { body: { project_id: project?.id, name: 'drill' } });
  const database = stack.use(openDatabase({ url: pair.url }, { poolSize: 2 }));
  await database.run(setRateLimit, { keyId: key.id, rateLimitRpm: 6_000 });

  const answers: Answers = { served: [], gatewayAtMs: [], apiAtMs: [], unavailable: 0, broken: [] };
  const told = nothingTold();
  const stopping = new AbortController();
  const changers = Promise.all(
    Array.from({ length: CHANGERS }, () =>
      changeThings({
        client: new ApiClient(service.apiPort),
        provider: 'mock',
        told,
        signal: stopping.signal,
        onChange: () => undefined,
        pauseMs: PAUSE_MS,
      }),
    ),
  );
  const callers = Promise.all([
    ...Array.from({ length: CALLERS }, () =>
      callGateway(service.gatewayPort, key.api_key, answers, stopping.signal),
    ),
    readApi(api, answers, stopping.signal),
  ]);
  for (const work of [changers, callers]) work.catch(() => undefined);
  const pauses = { gateway: [] as number[], api: [] as number[] };
  try {
    for (let cycle = 0; cycle < cycles; cycle += 1) {
      const enough = told.acknowledged.size + 5;
      await Promise.race([changers, eventually(async () => told.acknowledged.size >= enough || undefined)]);
      await delay(UP_MS);
      const killedAt = performance.now();
      await pair.killPrimary();
      await delay(AWAY_MS);
      await pair.promote();
      await pooler?.follow();
      const promotedAt = performance.now();
      const firstAfter = (times: readonly number[]) => times.find((at) => at > promotedAt);
      await eventually(async () => firstAfter(answers.gatewayAtMs) && firstAfter(answers.apiAtMs));
      pauses.gateway.push((firstAfter(answers.gatewayAtMs) as number) - promotedAt);
      pauses.api.push((firstAfter(answers.apiAtMs) as number) - promotedAt);
      log(
        `fail-over ${cycle + 1}: promoted ${Math.round(promotedAt - killedAt)} ms after the kill; gateway again after ${Math.round(pauses.gateway.at(-1) as number)} ms, API after ${Math.round(pauses.api.at(-1) as number)} ms more`,
      );
      await pair.addStandby();
    }
  } finally {
    stopping.abort();
    await Promise.all([changers, callers]);
  }

  const settled = await settlementsOf(database, key.id, answers.served);
  assert.equal(new Set(settled.map(({ id }) => id)).size, settled.length, 'a request was settled twice');
  // A request that was answered with 503 may be settled too: at nothing, or at its cost if the provider had answered it.
  const paid = new Set(settled.filter(({ costMicroPkr }) => costMicroPkr > 0n).map(({ id }) => id));
  for (const { costMicroPkr } of settled)
    assert.ok(costMicroPkr === 0n || costMicroPkr === BigInt(COST_MICRO_PKR), `a cost of ${costMicroPkr}`);
  for (const id of answers.served) assert.ok(paid.has(id), `${id} was answered and cost nothing`);
  assert.ok(paid.size <= provider.asked.length, `${paid.size} paid of ${provider.asked.length}`);
  const { changes, entries } = await checkChanges(database, told);
  const acknowledged = [...told.acknowledged.values()].reduce((sum, count) => sum + count, 0);
  const worst = (times: readonly number[]) => Math.round(Math.max(...times));
  log(
    `${cycles} fail-overs of PostgreSQL ${pair.version}: ${answers.served.length} requests answered, all settled once (${provider.asked.length} at the provider, ${paid.size} paid for); ${answers.unavailable} answered 503 with Retry-After; ${acknowledged} changes acknowledged, all there; ${changes} changes, ${entries} entries; after a promotion at most ${worst(pauses.gateway)} ms until the gateway and ${worst(pauses.api)} ms until the API served`,
  );
  const slowest = worst([...pauses.gateway, ...pauses.api]);
  if (slowest > MAX_PAUSE_MS)
    answers.broken.push(
      `nothing was served for ${slowest} ms after a promotion, and ${MAX_PAUSE_MS} were promised`,
    );
  return answers.broken;
}

async function callGateway(port: number, secret: string, answers: Answers, signal: AbortSignal) {
  while (!signal.aborted) {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: BODY,
    });
    const text = await answer.text();
    if (answer.status === 200) {
      answers.served.push(answer.headers.get('x-request-id') as string);
      answers.gatewayAtMs.push(performance.now());
    } else judge('gateway', answer.status, answer.headers.get('retry-after'), text, answers);
    await delay(PAUSE_MS);
  }
}

async function readApi(api: ApiClient, answers: Answers, signal: AbortSignal) {
  while (!signal.aborted) {
    const { status, headers, text } = await api.send(organization.listProjects);
    if (status === 200) answers.apiAtMs.push(performance.now());
    else judge('API', status, String(headers['retry-after'] ?? ''), text, answers);
    await delay(PAUSE_MS);
  }
}

function judge(who: string, status: number, retryAfter: string | null, text: string, answers: Answers) {
  if (status === 503 && retryAfter) answers.unavailable += 1;
  else answers.broken.push(`the ${who} answered ${status}, Retry-After ${retryAfter}: ${text.slice(0, 200)}`);
}

/** Once the journal has settled each request that was answered. */
function settlementsOf(database: Database, keyId: string, served: readonly string[]) {
  return eventually(async () => {
    const rows = await database.many(listSettlements, { keyId });
    const ids = new Set(rows.map(({ id }) => id));
    return served.every((id) => ids.has(id)) ? rows : undefined;
  });
}
