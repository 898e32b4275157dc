import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { analytics, auth, keys, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { openEmbeddedPostgres } from '@gatehouse/embedded';
import { completion, json, type MockProvider, startMockProvider } from '@gatehouse/gateway/testing';
import { type NoParameters, openDatabase, sql, statement } from '@gatehouse/store';
import { jsonOf, runCommand, startCommand } from '../command-process.ts';
import { processesOf } from '../processes.ts';
import { eventually, type ServiceProcess, startService } from '../service-process.ts';

// Under `gatehouse start` the gateway is a process of its own: whatever ends it, the API continues, and the gateway is replaced.

const ACCOUNT = { email: 'ada@example.com', password: 'correct horse battery staple' };
const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');
const CALLERS = 4;

const listSettlements = statement<NoParameters, { id: string }>(
  'test-list-settled-requests',
  sql`SELECT request_id::text AS id FROM settlements WHERE cost_micro_pkr > 0`,
);

const countWaiting = statement<NoParameters, { count: bigint }>(
  'test-count-waiting',
  sql`SELECT count(*) AS count FROM pg_stat_activity
      WHERE application_name = 'gatehouse' AND wait_event_type = 'Lock'`,
);

/** The current gateway process, from the log. */
function gatewayPid({ logLines }: ServiceProcess): number {
  return logLines.findLast((line) => line['event'] === 'gateway.process_started')?.['pid'] as number;
}

const endsOf = ({ logLines }: ServiceProcess) =>
  logLines
    .filter((line) => line['event'] === 'gateway.process_ended')
    .map((line) => line['signal'] ?? line['exit_code']);

/** The request's id when it was answered; undefined when no gateway answered. */
async function complete(port: number, secret: string, model: string): Promise<string | undefined> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
    });
    await answer.text();
    assert.equal(answer.status, 200);
    return answer.headers.get('x-request-id') ?? undefined;
  } catch (error) {
    // The error of fetch for a refused or broken connection.
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Callers that send one request after the other until stopped. */
function startTraffic(ask: () => Promise<string | undefined>) {
  const answered: string[] = [];
  let isStopped = false;
  const callers = Array.from({ length: CALLERS }, async () => {
    while (!isStopped) {
      const id = await ask();
      if (id !== undefined) answered.push(id);
    }
  });
  return {
    answered,
    /** Adds so many. */
    more: (count: number) => {
      const enough = answered.length + count;
      return eventually(async () => (answered.length >= enough ? true : undefined));
    },
    async stop() {
      isStopped = true;
      await Promise.all(callers);
    },
  };
}

describe('the gateway process', () => {
  const stack = new AsyncDisposableStack();
  let directory: string;
  let environment: Record<string, string>;
  let provider: MockProvider;
  let secret: string;
  const signIn = async ({ apiPort }: ServiceProcess) => {
    const api = new ApiClient(apiPort);
    await api.call(auth.login, { body: ACCOUNT });
    return api;
  };
  const noneLeft = () =>
    eventually(async () => ((await processesOf(directory)).length === 0 ? true : undefined));

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-gateway-process-'));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    provider = stack.use(await startMockProvider(json(completion('Hi.', { prompt: 8, completion: 10 }))));
    const catalogue = join(directory, 'catalogue.yaml');
    await writeFile(
      catalogue,
      `providers: { mock: { protocol: openai, base_url: "${provider.baseUrl}" } }
routes:
  - { id: mock/model, provider: mock, upstream_model: m, price_pkr_per_million: { input: 70, output: 560 }, max_output_tokens: 1000 }
`,
    );
    environment = {
      DATA_DIR: join(directory, 'data'),
      CATALOGUE: catalogue,
      GATEHOUSE_MASTER_KEY: MASTER_KEY,
      GATEWAY_HEAP_MB: '256',
    };
  });
  after(() => stack.disposeAsync());

  it('is replaced when it is killed or aborts, while the API answers and no answered request is lost', async () => {
    await using service = await startService(environment);
    const api = new ApiClient(service.apiPort);
    await api.call(auth.register, { body: { ...ACCOUNT, organization_name: 'Acme' } });
    await api.call(auth.login, { body: ACCOUNT });
    const project = (await api.call(organization.listProjects)).projects[0]?.id;
    const minted = await api.call(keys.createKey, { body: { project_id: project, name: 'k' } });
    secret = minted.api_key;
    await api.call(keys.updateKey, { params: { key_id: minted.id }, body: { rate_limit_rpm: 6_000 } });

    const traffic = startTraffic(() => complete(service.gatewayPort, secret, 'mock/model'));
    let isWatching = true;
    const watcher = (async () => {
      let answers = 0;
      for (; isWatching; answers += 1) {
        await api.call(auth.me);
        const ready = await fetch(`http://127.0.0.1:${service.apiPort}/readyz`);
        assert.deepEqual([ready.status, await ready.json()], [200, { status: 'ready' }]);
      }
      return answers;
    })();
    // A process with a full heap ends with SIGABRT.
    for (const signal of ['SIGKILL', 'SIGABRT'] as const) {
      await traffic.more(30);
      const pid = gatewayPid(service);
      process.kill(pid, signal);
      await eventually(async () => (gatewayPid(service) === pid ? undefined : true));
    }
    await traffic.more(30);
    isWatching = false;
    assert.ok((await watcher) > 0);
    await traffic.stop();
    assert.deepEqual(endsOf(service), ['SIGKILL', 'SIGABRT']);
    for (const path of ['healthz', 'readyz']) {
      const { status } = await fetch(`http://127.0.0.1:${service.gatewayPort}/${path}`);
      assert.equal(status, 200, path);
    }

    await eventually(async () => {
      const { total } = await api.call(analytics.listRequests, { query: { limit: 1 } });
      return total >= traffic.answered.length ? true : undefined;
    });
    const { requests, total } = await api.call(analytics.listRequests, { query: { limit: 200 } });
    const logged = requests.map((request) => request.req_id);
    assert.equal(total, logged.length, 'more requests than a page holds');
    assert.equal(new Set(logged).size, logged.length, 'a request is in the log twice');
    {
      await using server = await openEmbeddedPostgres({ dataDir: environment['DATA_DIR'] as string });
      await using database = openDatabase(server.connection, { poolSize: 1 });
      const settled = await eventually(async () => {
        const ids = (await database.many(listSettlements)).map(({ id }) => id);
        return traffic.answered.every((id) => ids.includes(id)) ? ids : undefined;
      });
      assert.equal(new Set(settled).size, settled.length);
      for (const id of traffic.answered) assert.ok(logged.includes(id), `${id} is not in the log`);
    }
    const doctor = await jsonOf(['doctor'], { environment });
    assert.deepEqual([doctor['healthy'], doctor['findings']], [true, []]);
  });

  it('answers while requests block the database connections of the API', async () => {
    await using service = await startService(environment);
    const api = await signIn(service);
    await using server = await openEmbeddedPostgres({ dataDir: environment['DATA_DIR'] as string });
    await using database = openDatabase(server.connection, { poolSize: 1 });
    const lock = await database.connect();
    try {
      await lock.query('BEGIN');
      await lock.query('LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE');
      let isAsking = true;
      const crowd = Array.from({ length: 24 }, async () => {
        while (isAsking) await api.send(auth.me);
      });
      // A session uses one connection at a time, however many requests come.
      await eventually(async () => ((await database.one(countWaiting))?.count ?? 0n) >= 1n || undefined);
      const answered = await complete(service.gatewayPort, secret, 'mock/model');
      isAsking = false;
      await lock.query('COMMIT');
      await Promise.all(crowd);
      assert.notEqual(answered, undefined);
      await api.call(auth.me);
    } finally {
      await lock.end();
    }
  });

  it('has its settings and no secret on its command line, and is the first to be killed when memory is short', async () => {
    await using service = await startService(environment);
    const read = (name: string) => readFile(`/proc/${gatewayPid(service)}/${name}`, 'utf8');
    const commandLine = await read('cmdline');
    assert.ok(commandLine.includes('--max-old-space-size=256\0'), commandLine);
    assert.ok(!commandLine.includes(MASTER_KEY));
    assert.equal(
      Number(await read('oom_score_adj')) - Number(await readFile('/proc/self/oom_score_adj')),
      500,
    );
  });

  it('finishes requests in flight when all processes receive the signal, as from a terminal', async () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      await using service = await startService(environment);
      const asked = provider.next();
      const release = Promise.withResolvers<void>();
      const script = provider.script;
      provider.script = async (response, one) => {
        await release.promise;
        await script(response, one);
      };
      const answer = complete(service.gatewayPort, secret, 'mock/model');
      await asked;
      process.kill(gatewayPid(service), signal);
      const ended = service.end(signal);
      await eventually(async () => (service.told().includes('Stopping') ? true : undefined));
      provider.script = script;
      release.resolve();
      assert.notEqual(await answer, undefined);
      assert.equal(await ended, 0);
      assert.deepEqual(endsOf(service), []);
      await noneLeft();
    }
  });

  it('drains and is replaced when it alone receives the signal', async () => {
    await using service = await startService(environment);
    const pid = gatewayPid(service);
    process.kill(pid, 'SIGTERM');
    await eventually(async () => (gatewayPid(service) === pid ? undefined : true));
    assert.deepEqual(endsOf(service), [0]);
    assert.notEqual(await complete(service.gatewayPort, secret, 'mock/model'), undefined);
  });

  it('ends with its parent, and records what was in flight', async () => {
    const before = await logged();
    {
      await using service = await startService(environment);
      const asked = provider.next();
      const script = provider.script;
      provider.script = () => undefined;
      const answer = complete(service.gatewayPort, secret, 'mock/model').catch(() => undefined);
      const { aborted } = await asked;
      assert.equal(await service.end('SIGKILL'), 'SIGKILL');
      await Promise.all([answer, aborted]);
      provider.script = script;
      await noneLeft();
    }
    assert.equal(await logged(before + 1), before + 1);
  });

  /** Waits until the log has this many requests, and returns their number. */
  async function logged(expected = 0): Promise<number> {
    await using service = await startService(environment);
    const api = await signIn(service);
    return await eventually(async () => {
      const { total } = await api.call(analytics.listRequests, { query: { limit: 1 } });
      return total >= expected ? total : undefined;
    });
  }

  it('leaves no process behind when both are killed', async () => {
    await using service = await startService(environment);
    process.kill(gatewayPid(service), 'SIGKILL');
    assert.equal(await service.end('SIGKILL'), 'SIGKILL');
    await noneLeft();
  });

  it('ends at once with its parent on a second signal', async () => {
    await using service = await startService(environment);
    const asked = provider.next();
    const script = provider.script;
    provider.script = () => undefined;
    const answer = complete(service.gatewayPort, secret, 'mock/model');
    await asked;
    service.child.kill('SIGINT');
    await eventually(async () => {
      // A second signal soon after the first counts as the same.
      service.child.kill('SIGINT');
      return service.child.signalCode ?? undefined;
    });
    assert.equal(await answer, undefined);
    provider.script = script;
    await noneLeft();
  });

  it('makes the start fail, with the reason, when it cannot listen', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const free = { ...environment, PORT: '0', GATEWAY_PORT: String(port), LOG_LEVEL: 'error' };
    const { code, stdout, stderr } = await runCommand(['start'], { environment: free });
    server.close();
    assert.deepEqual([code, stdout], [1, '']);
    assert.equal(
      stderr,
      `gatehouse: GATEWAY_PORT is ${port}, and another program already listens on that port of 127.0.0.1; stop it if it is an earlier Gatehouse, or set GATEWAY_PORT to another port, for example GATEWAY_PORT=${port + 100 < 65_536 ? port + 100 : port - 100}\n`,
    );
    await noneLeft();
  });

  it('logs at the level of the settings, as its parent does', async () => {
    const quiet = { ...environment, PORT: '0', GATEWAY_PORT: '0', LOG_LEVEL: 'error' };
    const { child, outcome } = startCommand(['start'], { environment: quiet });
    let told = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      told += chunk;
    });
    const port = await eventually(async () => /Gateway +http:\/\/127\.0\.0\.1:(\d+)/.exec(told)?.[1]);
    assert.notEqual(await complete(Number(port), secret, 'mock/model'), undefined);
    child.kill('SIGTERM');
    const { code, stdout } = await outcome;
    assert.deepEqual([code, stdout], [0, '']);
  });
});
