import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { analytics, auth, catalogue, keys, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { createTestDatabase, TEST_MASTER_KEY } from '@gatehouse/store/testing';
import { eventually, startService } from '../service-process.ts';

const ACCOUNT = { email: 'ada@example.com', password: 'correct horse battery staple' };

async function signUp(port: number): Promise<ApiClient> {
  const api = new ApiClient(port);
  await api.call(auth.register, { body: { ...ACCOUNT, organization_name: 'Acme' } });
  await api.call(auth.login, { body: ACCOUNT });
  return api;
}

async function mint(api: ApiClient): Promise<string> {
  const project = (await api.call(organization.listProjects)).projects[0];
  return (await api.call(keys.createKey, { body: { project_id: project?.id, name: 'k' } })).api_key;
}

const complete = (port: number, secret: string) =>
  fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo/echo', messages: [{ role: 'user', content: 'Hello' }] }),
  });

describe('several processes on one data directory', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-several-'));
  });
  after(() => rm(directory, { recursive: true, force: true }));

  it('serve as one: the API in one, the gateway in two, the leader of the stores replaced when it is killed', async () => {
    await using stack = new AsyncDisposableStack();
    const environment = { DATA_DIR: join(directory, 'data') };
    // The first to start is the leader of the embedded stores.
    const owner = stack.use(await startService(environment, ['--role', 'gateway']));
    const api = stack.use(await startService(environment, ['--role', 'api']));
    // A parent of two that share its port.
    const several = { ...environment, GATEWAY_PROCESSES: '2', DRAIN_DELAY: '30' };
    const other = stack.use(await startService(several, ['--role', 'gateway']));
    const started = other.logLines.filter(({ event }) => event === 'gateway.process_started');
    assert.deepEqual(
      started.map(({ process, port }) => [process, port]),
      [1, 2].map((number) => [number, other.gatewayPort]),
    );
    // The one that serves the gateway itself has its heap, as each of the two has; the API has not.
    const optionsOf = async (pid: unknown) => {
      const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').slice(1);
      return words.slice(
        0,
        words.findIndex((word) => !word.startsWith('--')),
      );
    };
    const [own, ...ofOthers] = await Promise.all(
      [owner.child.pid, ...started.map((line) => line['pid'])].map(optionsOf),
    );
    const options = ['--max-old-space-size=512', '--max-semi-space-size=64'];
    assert.deepEqual([own, ...ofOthers], [options, options, options]);
    assert.deepEqual(await optionsOf(api.child.pid), []);
    const client = await signUp(api.apiPort);
    const secret = await mint(client);
    const ids: (string | null)[] = [];
    for (const { gatewayPort } of [owner, other]) {
      const answer = await complete(gatewayPort, secret);
      assert.equal(answer.status, 200);
      ids.push(answer.headers.get('x-request-id'));
      await answer.text();
    }
    await owner.end('SIGKILL');
    // The stores ended with their leader. A follower starts them again, and ships the leader's journal.
    const third = await eventually(async () => {
      const answer = await complete(other.gatewayPort, secret);
      await answer.text();
      return answer.status === 200 ? answer : undefined;
    });
    ids.push(third.headers.get('x-request-id'));
    await eventually(async () => {
      const reply = await client.send(analytics.listRequests, { query: { limit: 200 } });
      if (reply.status !== 200) return undefined;
      const found = (JSON.parse(reply.text) as { requests: { req_id: string }[] }).requests.map(
        ({ req_id }) => req_id,
      );
      return ids.every((id) => found.includes(String(id))) ? true : undefined;
    }, 60_000);

    // A stop is announced by both processes, which serve on, until the delay is over or a second signal comes.
    const before = performance.now();
    other.child.kill('SIGTERM');
    await eventually(async () => {
      // A connection each, which the kernel gives to either.
      const probes = Array.from({ length: 20 }, () => readiness(other.gatewayPort));
      return (await Promise.all(probes)).every((status) => status === 503) ? true : undefined;
    });
    await eventually(async () => {
      const answer = await complete(other.gatewayPort, secret);
      await answer.text();
      assert.deepEqual([answer.status, answer.headers.get('connection')], [200, 'close']);
      // A second signal counts from then on.
      return performance.now() - before > 1_500 ? true : undefined;
    });
    assert.equal(await other.end('SIGTERM'), 0);
    assert.ok(other.logLines.some(({ event }) => event === 'service.stop_announced'));
  });
});

/** The status of a probe on a connection of its own. */
function readiness(port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path: '/readyz', agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on('error', reject);
  });
}

describe('external stores', () => {
  it('serve without analytics while ClickHouse is unavailable, and without the demonstration route', async () => {
    await using stack = new AsyncDisposableStack();
    const { address } = stack.use(await createTestDatabase());
    assert.ok('host' in address);
    const directory = await mkdtemp(join(tmpdir(), 'gatehouse-external-'));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    const service = stack.use(
      await startService({
        DATABASE_URL: `postgresql:///${address.database}?host=${encodeURIComponent(address.host)}&port=${address.port}&user=${address.user}`,
        CLICKHOUSE_URL: 'http://127.0.0.1:1',
        JOIN_POLICY: 'closed',
        GATEHOUSE_MASTER_KEY: TEST_MASTER_KEY.reveal(),
        DATA_DIR: directory,
      }),
    );
    const api = await signUp(service.apiPort);
    const secret = await mint(api);
    assert.deepEqual(await api.refused(analytics.getSummary, 503), {
      error: 'analytics backend unavailable',
    });
    assert.equal((await api.call(keys.listKeys)).keys[0]?.last_used_at, null);
    const { routes } = await api.call(catalogue.listRoutes);
    assert.ok(routes.length > 0);
    assert.ok(!routes.some((route) => route.provider === 'demo'));
    const answer = await complete(service.gatewayPort, secret);
    assert.equal(answer.status, 404);
    await answer.text();
    for (const port of [service.apiPort, service.gatewayPort]) {
      const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
      assert.deepEqual([ready.status, await ready.json()], [200, { status: 'ready' }]);
    }
    assert.equal(await service.end('SIGTERM'), 0);
  });
});
