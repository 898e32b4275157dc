import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { activity, analytics, auth, keys, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { childEnvironment } from '../child-environment.ts';
import { processesOf } from '../processes.ts';
import { eventually, type ServiceProcess, startService } from '../service-process.ts';

const ACCOUNT = { email: 'ada@example.com', password: 'correct horse battery staple' };

describe('the life of the service', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-life-'));
  });
  after(() => rm(directory, { recursive: true, force: true }));

  const start = () =>
    startService({ DATA_DIR: join(directory, 'data'), LOG_LEVEL: 'info' }, [], { makesStores: true });
  const signIn = async (service: ServiceProcess) => {
    const api = new ApiClient(service.apiPort);
    await api.call(auth.login, { body: ACCOUNT });
    return api;
  };
  const noneLeft = () =>
    eventually(async () => ((await processesOf(directory)).length === 0 ? true : undefined));

  it('keeps every acknowledged record through kill -9, and starts again without intervention', async () => {
    let secret: string;
    const acknowledged: string[] = [];
    {
      await using service = await start();
      const api = new ApiClient(service.apiPort);
      await api.call(auth.register, { body: { ...ACCOUNT, organization_name: 'Acme' } });
      await api.call(auth.login, { body: ACCOUNT });
      const project = (await api.call(organization.listProjects)).projects[0];
      const minted = await api.call(keys.createKey, { body: { project_id: project?.id, name: 'kept' } });
      secret = minted.api_key;
      // Killed with requests in flight: those answered completely must be in the log.
      const send = async () => {
        const answer = await fetch(`http://127.0.0.1:${service.gatewayPort}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'demo/echo', messages: [{ role: 'user', content: 'Hello' }] }),
        });
        await answer.text();
        if (answer.status === 200) acknowledged.push(String(answer.headers.get('x-request-id')));
      };
      for (let i = 0; i < 20; i += 1) await send();
      const cutOff = Promise.allSettled(Array.from({ length: 20 }, send));
      await service.end('SIGKILL');
      await cutOff;
    }

    await using service = await start();
    for (const part of ['postgres', 'clickhouse', 'journal']) {
      const { mode } = await stat(join(directory, 'data', part));
      assert.equal(mode & 0o077, 0, `${part} is open to others`);
    }
    const api = await signIn(service);
    assert.deepEqual(
      (await api.call(keys.listKeys)).keys.map((key) => key.name),
      ['kept'],
    );
    const { events } = await api.call(activity.listActivity);
    assert.equal(events.filter((event) => event.action === 'api_key.created').length, 1);
    assert.ok(acknowledged.length >= 20);
    await eventually(async () => {
      const { requests } = await api.call(analytics.listRequests, { query: { limit: 200 } });
      const ids = requests.map((request) => request.req_id);
      assert.equal(new Set(ids).size, ids.length, 'a request is in the log twice');
      return acknowledged.every((id) => ids.includes(id)) ? true : undefined;
    });
  });

  it('serves although its log cannot be written, and reports that once', async () => {
    const full = await open('/dev/full', 'w');
    const child = spawn(process.execPath, ['cli/bin/gatehouse.mjs', 'start'], {
      cwd: join(import.meta.dirname, '../..'),
      env: {
        ...childEnvironment(),
        PORT: '0',
        GATEWAY_PORT: '0',
        DATA_DIR: join(directory, 'full'),
      },
      stdio: ['ignore', full.fd, 'pipe'],
    });
    const ended = once(child, 'exit');
    let told = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      told += chunk;
    });
    try {
      const port = await eventually(async () => /API +http:\/\/127\.0\.0\.1:(\d+)/.exec(told)?.[1]);
      for (let n = 0; n < 3; n += 1) {
        const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
        assert.equal(answer.status, 200);
        await answer.text();
      }
    } finally {
      child.kill('SIGTERM');
      await ended;
      await full.close();
    }
    assert.equal(told.match(/The log cannot be written: ENOSPC/g)?.length, 1, told);
    assert.match(told, /Stopped\./);
  });

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    it(`leaves no process behind after ${signal}`, async () => {
      await using service = await start();
      assert.ok(
        (await processesOf(directory)).length >= 4,
        'the service, its gateway or a store was not found',
      );
      assert.equal(await service.end(signal), 0);
      await noneLeft();
    });
  }

  it('leaves no process behind after kill -9', async () => {
    await using service = await start();
    assert.equal(await service.end('SIGKILL'), 'SIGKILL');
    await noneLeft();
  });

  it('finishes a request in flight before it stops', async () => {
    await using service = await start();
    const api = await signIn(service);
    const project = (await api.call(organization.listProjects)).projects[0];
    const { api_key } = await api.call(keys.createKey, { body: { project_id: project?.id, name: 'late' } });
    const answer = await fetch(`http://127.0.0.1:${service.gatewayPort}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'demo/echo',
        stream: true,
        messages: [{ role: 'user', content: 'word '.repeat(200) }],
      }),
    });
    const [code, text] = await Promise.all([service.end('SIGTERM'), answer.text()]);
    assert.equal(code, 0);
    assert.match(text, /data: \[DONE\]\s*$/);
  });
});

const FREE = { PORT: '0', GATEWAY_PORT: '0' };

describe('gatehouse', () => {
  const run = async (args: string[], environment: Record<string, string> = {}) => {
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, '../../cli/bin/gatehouse.mjs'), ...args],
      {
        env: { ...childEnvironment(), ...environment },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    const [code] = await once(child, 'close');
    return { code, stdout, stderr };
  };

  it('shows its help', async () => {
    const { code, stdout } = await run(['--help']);
    assert.equal(code, 0);
    assert.match(stdout, /gatehouse start/);
  });

  it('reports wrong usage in one line with exit code 2', async () => {
    for (const args of [
      [],
      ['stop'],
      ['start', '--role', 'dashboard'],
      ['start', '--port', '1'],
      ['start', 'now'],
    ]) {
      const { code, stderr } = await run(args);
      assert.equal(code, 2, args.join(' '));
      assert.match(stderr, /^gatehouse: [^\n]+\n$/);
    }
  });

  it('stops with one line that names a bad setting, its value and what is expected', async () => {
    const { code, stderr } = await run(['start'], { PORT: 'eighty', GATEWAY_PORT: '0' });
    assert.equal(code, 1);
    assert.equal(
      stderr,
      'gatehouse: PORT is "eighty", expected a whole number from 0 to 65535; correct it, or remove it for the default (8080)\n',
    );
  });

  it('does not show the value of a secret setting', async () => {
    const { code, stderr } = await run(['start'], { ...FREE, DATABASE_URL: 'mysql://root:hunter2@db' });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^gatehouse: DATABASE_URL is "mysql:\/\/…@db", expected a well-formed address starting with postgres/,
    );
    assert.ok(!stderr.includes('hunter2'));
  });

  it('reports in one line why it could not start, and leaves nothing running', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'gatehouse-refused-'));
    const free = { ...FREE, LOG_LEVEL: 'silent', DATA_DIR: join(directory, 'data') };
    const file = join(directory, 'a file');
    await writeFile(file, 'providers: {}\nroutes: 5');
    // A wrong setting gets one line; what fails later follows the line that says that the start began.
    const started = ['Starting Gatehouse ...'];
    const cases: [Record<string, string>, RegExp, string[]][] = [
      [
        {
          DATABASE_URL: 'postgres://127.0.0.1:1/none',
          START_TIMEOUT: '1',
          JOIN_POLICY: 'closed',
          GATEHOUSE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
        },
        /^PostgreSQL did not answer within 1 s \(START_TIMEOUT\).*ECONNREFUSED/,
        started,
      ],
      [
        { CATALOGUE: join(directory, 'none.yaml') },
        /^CATALOGUE is ".*none\.yaml", which cannot be read: ENOENT/,
        [],
      ],
      [{ CATALOGUE: file }, /^CATALOGUE is ".*a file", line 2 column 9 \(routes\): must be a list$/, []],
      [{ DATA_DIR: file }, /^DATA_DIR is ".*a file", but .* is not a directory/, []],
      [
        { HOST: '192.0.2.1', JOIN_POLICY: 'closed', SIGNUP_CREDIT_PKR: '0', TRUSTED_PROXY_HOPS: '0' },
        /^HOST is "192\.0\.2\.1", which is not an address of this machine; set it to /,
        [],
      ],
    ];
    for (const [environment, expected, before] of cases) {
      const { code, stderr } = await run(['start'], { ...free, ...environment });
      assert.equal(code, 1);
      const lines = stderr.trimEnd().split('\n');
      const line = lines.pop() ?? '';
      assert.deepEqual(lines, before);
      assert.match(line.replace('gatehouse: ', ''), expected);
    }
    await eventually(async () => ((await processesOf(directory)).length === 0 ? true : undefined));
    await rm(directory, { recursive: true });
  });

  it('requires explicit settings when other machines can reach it', async () => {
    const { code, stderr } = await run(['start'], { ...FREE, HOST: '0.0.0.0', JOIN_POLICY: 'open' });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^gatehouse: HOST is "0\.0\.0\.0", [^\n]*choose SIGNUP_CREDIT_PKR \([^\n]* and TRUSTED_PROXY_HOPS \([^\n]*\n$/,
    );
  });

  it('requires a join policy with an external database', async () => {
    const { code, stderr } = await run(['start'], { ...FREE, DATABASE_URL: 'postgres://127.0.0.1:1/none' });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^gatehouse: 2 things about [^\n]*\n- JOIN_POLICY must be chosen [^\n]*\n- GATEHOUSE_MASTER_KEY must/,
    );
  });
});
