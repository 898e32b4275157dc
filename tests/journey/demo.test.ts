import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { activity, analytics, auth, keys, organization, pkrInWords } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { jsonOf, type Outcome, runCommand } from '../command-process.ts';
import { type ServiceProcess, startService } from '../service-process.ts';

// A first look at the product: one command creates and fills an installation, and then adds a second
// organisation beside the running service.

const PROJECT = join(import.meta.dirname, '../..');
const ROWS = 3_000;
// The window moves between the generation of the rows and the query.
const ALL = { time_range: '31d' };

interface Demo {
  readonly organization: { readonly id: string; readonly name: string };
  readonly owner: { readonly email: string; readonly password: string };
  readonly teammates: readonly string[];
  readonly projects: readonly { readonly id: string; readonly name: string }[];
  readonly keys: readonly {
    readonly id: string;
    readonly name: string;
    readonly state: string;
    readonly spent_pkr: number;
  }[];
  readonly api_key: string;
  readonly requests: number;
  readonly spent_pkr: number;
  readonly deposited_pkr: number;
}

async function signIn(port: number, { owner }: Demo): Promise<ApiClient> {
  const client = new ApiClient(port);
  await client.call(auth.login, { body: owner });
  return client;
}

describe('gatehouse demo', () => {
  let directory: string;
  let environment: Record<string, string>;
  let service: ServiceProcess;
  let first: Demo;
  let client: ApiClient;
  const demo = async (...args: string[]) =>
    (await jsonOf(['demo', '--rows', String(ROWS), ...args], { environment })) as unknown as Demo;
  const refused = async (expected: RegExp, ...args: string[]): Promise<Outcome> => {
    const outcome = await runCommand(['demo', ...args], { environment });
    assert.match(outcome.stderr, expected);
    assert.equal(outcome.stderr.split('\n').length, 2);
    assert.equal(outcome.stdout, '');
    return outcome;
  };
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-demo-'));
    environment = { DATA_DIR: join(directory, 'data') };
  });
  after(async () => {
    await service?.[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  it('refuses what it cannot fill before it creates anything', async () => {
    const elsewhere = {
      ...environment,
      DATABASE_URL: 'postgresql://localhost/x',
      CLICKHOUSE_URL: 'http://localhost',
    };
    const { code, stderr } = await runCommand(['demo'], { environment: elsewhere });
    assert.deepEqual(
      [code, stderr],
      [
        1,
        'gatehouse: gatehouse demo is for the embedded stores, and DATABASE_URL and CLICKHOUSE_URL are set\n',
      ],
    );
    for (const [wrong, args] of [
      ['--rows', ['--rows', '0']],
      ['--rows', ['--rows', '5000001']],
      ['--days', ['--days', '91']],
      ['--days', ['--days', 'x']],
    ] as const) {
      assert.equal(
        (await refused(new RegExp(`^gatehouse: ${wrong} is ".*", expected a whole`), ...args)).code,
        2,
      );
    }
    assert.deepEqual(await readdir(directory), []);
  });

  it('creates an installation and fills it', async () => {
    first = await demo();
    assert.equal(first.organization.name, 'Demo Company');
    assert.equal(first.requests, ROWS);
    assert.equal(first.teammates.length, 2);
    assert.equal(first.projects.length, 3);
    assert.equal(first.keys.length, 12);
    assert.ok(first.spent_pkr > 0 && first.spent_pkr < first.deposited_pkr);
  });

  it('leaves a correct ledger and activity log', async () => {
    const { healthy, organizations, keys: count } = await jsonOf(['doctor'], { environment });
    assert.deepEqual([healthy, organizations, count], [true, 1, 12]);
    await jsonOf(['activity', 'verify'], { environment });
  });

  it('lets its owner sign in, and shows the data that it announced', async () => {
    service = await startService(environment);
    client = await signIn(service.apiPort, first);
    const summary = await client.call(analytics.getSummary, { query: ALL });
    assert.equal(summary.total_requests, ROWS);
    const { keys: listed } = await client.call(keys.listKeys);
    const states = (state: string) => first.keys.filter((key) => key.state === state).map(({ id }) => id);
    assert.deepEqual(
      new Set(listed.map(({ id }) => id)),
      new Set([...states('active'), ...states('expired')]),
    );
    assert.equal(states('revoked').length, 1);
    for (const key of listed) {
      const isExpired = key.expires_at !== null && Date.parse(key.expires_at) < Date.now();
      assert.equal(isExpired, states('expired').includes(key.id));
      assert.ok(key.last_used_at === null || key.created_at <= key.last_used_at, JSON.stringify(key));
    }
    assert.ok(listed.some(({ allowed_models }) => allowed_models !== null));
    assert.equal((await client.call(organization.listMembers)).members.length, 3);
  });

  it('spends in the ledger what the request log shows, key by key', async () => {
    for (const { id, name, state, spent_pkr } of first.keys) {
      const summary = await client.call(analytics.getSummary, { query: { ...ALL, key_id: id } });
      assert.equal(summary.total_cost_pkr, spent_pkr, name);
      if (state === 'revoked' || spent_pkr === 0) continue;
      const reply = await client.refused(keys.updateKey, 400, {
        params: { key_id: id },
        body: { rate_limit_rpm: 60, credit_limit_pkr: 0.000001, expires_at: 0 },
      });
      const spent = pkrInWords(BigInt(Math.round(spent_pkr * 1_000_000)));
      assert.equal(
        reply['error'],
        `Credit limit cannot be below the ${spent} this key has already spent.`,
        name,
      );
    }
    const sum = first.keys.reduce((micro, { spent_pkr }) => micro + Math.round(spent_pkr * 1_000_000), 0);
    assert.equal(sum, Math.round(first.spent_pkr * 1_000_000));
  });

  it('records its changes in the activity log', async () => {
    const { events } = await client.call(activity.listActivity, { query: { limit: 200 } });
    const counts = new Map<string, number>();
    for (const { action } of events) counts.set(action, (counts.get(action) ?? 0) + 1);
    for (const [action, count] of [
      ['member.joined', 3],
      ['api_key.created', 12],
      ['api_key.revoked', 1],
      ['budget.deposited', 3],
    ] as const)
      assert.equal(counts.get(action), count, action);
    assert.ok((counts.get('api_key.updated') ?? 0) > 0);
  });

  it('prints a working key', async () => {
    const answer = await fetch(`http://127.0.0.1:${service.gatewayPort}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${first.api_key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo/echo', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    assert.equal(answer.status, 200, await answer.text());
  });

  it('refuses an existing name in any spelling, and changes nothing', async () => {
    for (const args of [[], ['--name', 'demo COMPANY']])
      assert.equal(
        (await refused(/^gatehouse: there is an organisation named Demo Company already; /, ...args)).code,
        1,
      );
    assert.equal(
      (
        await refused(
          /^gatehouse: there is an account with the address .* already; /,
          '--name',
          'Demo-Company',
        )
      ).code,
      1,
    );
    const { organizations } = await jsonOf(['doctor'], { environment });
    assert.equal(organizations, 1);
  });

  it('fills another organisation beside the service, which shows it at once', async () => {
    const second = await demo('--name', 'Second Look', '--days', '7');
    const other = await signIn(service.apiPort, second);
    const summary = await other.call(analytics.getSummary, { query: ALL });
    assert.equal(summary.total_requests, ROWS);
    assert.equal((await client.call(auth.me)).organization.name, 'Demo Company');
    const { healthy, organizations } = await jsonOf(['doctor'], { environment });
    assert.deepEqual([healthy, organizations], [true, 2]);
  });

  it('prints the next steps', async () => {
    const { code, stdout, stderr } = await runCommand(
      ['demo', '--name', 'Third Look', '--rows', '1', '--days', '1'],
      // The data directory is ./data there.
      { environment: { PORT: '9000' }, directory },
    );
    assert.equal(code, 0, stderr);
    assert.equal(stderr, 'Making 1 request of 1 day ...\n');
    assert.match(stdout, /^Third Look has 1 request of the last day, which cost /);
    assert.match(stdout, /E-mail +owner@third-look\.example\n +Password +\S+\n +A key +sk_svc_\w+ /);
    assert.match(stdout, /curl .*http:\/\/127\.0\.0\.1:9000\/api\/auth\/login /);
    // The service that its output describes has this data and these ports.
    const start = `cd ${PROJECT} && DATA_DIR=${environment['DATA_DIR']} PORT=9000 npm start`;
    assert.ok(stdout.includes(`: ${start}\n`), stdout);
    assert.deepEqual((await jsonOf(['doctor'], { environment }))['healthy'], true);
  });
});
