import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ACCESS_COOKIE, generateGatewayKey, REFRESH_COOKIE } from '@gatehouse/contract';
import { ApiClient, dumpTables, type RawReply } from '@gatehouse/control-plane/testing';
import { openEmbeddedClickHouse, openEmbeddedPostgres } from '@gatehouse/embedded';
import { createTelemetryClient, type Database, openDatabase } from '@gatehouse/store';
import { eventually, type ServiceProcess, startService } from './service-process.ts';

// A complete run of the service in which every secret is used correctly and in wrong places.
// Afterwards none of them may be found anywhere except in the answer that issued it.

const EMAIL = 'canary-bird@example.com';
const PASSWORD = `kanarienvogel ${randomUUID()}`;
const PROVIDER_KEY = `sk-canary-${randomBytes(24).toString('base64url')}`;
const WRONG_PASSWORD = `kolibri ${randomUUID()}`;
const CREDENTIAL = `eyJhbGciOiJSUzI1NiJ9.${randomBytes(60).toString('base64url')}.${randomBytes(60).toString('base64url')}`;

/** An answer as its receiver sees it: status, headers and body in one text. */
type Answer = string;

/** All requests and answers of the API and the gateway. */
class Run {
  readonly answers: Answer[] = [];
  /** Each secret with the answer that issued it. Null: it came from outside and no answer may contain it. */
  readonly secrets = new Map<string, Answer | null>();
  readonly #api: ApiClient;
  readonly #gateway: ApiClient;
  readonly #cookies = new Map<string, string>();
  readonly #dataDir: string;
  readonly #database: Database;
  /** The journal after each request, before it was shipped. */
  journal = '';

  constructor(service: ServiceProcess, dataDir: string, database: Database) {
    this.#dataDir = dataDir;
    this.#database = database;
    this.#api = new ApiClient(service.apiPort);
    this.#gateway = new ApiClient(service.gatewayPort);
    for (const secret of [PASSWORD, WRONG_PASSWORD, CREDENTIAL, PROVIDER_KEY]) this.secrets.set(secret, null);
  }

  /** Calls the API. A text body is sent unchanged. Session cookies are kept and sent. */
  async api(
    status: number,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) {
    const cookie = [...this.#cookies].map((pair) => pair.join('=')).join('; ');
    const reply = await this.#api.raw({
      method,
      path: `/api${path}`,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(cookie === '' ? {} : { cookie }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const answer = this.#note(reply, status, `${method} ${path}`);
    for (const line of [reply.headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') continue;
      this.#cookies.set(name, value);
      this.secrets.set(value, answer);
    }
    const parsed = JSON.parse(reply.text);
    if (typeof parsed.api_key === 'string') this.secrets.set(parsed.api_key, answer);
    return parsed;
  }

  async gateway(
    status: number,
    headers: Record<string, string>,
    body: object = {},
    path = '/v1/chat/completions',
  ) {
    // Nothing is settled while this lock is held, so records stay in the journal.
    const lock = await this.#database.connect();
    try {
      await lock.query('BEGIN');
      await lock.query('LOCK TABLE settlements IN SHARE MODE');
      const reply = await this.#gateway.raw({
        method: 'POST',
        path,
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ model: 'demo/echo', messages: [{ role: 'user', content: 'Hello' }], ...body }),
      });
      this.#note(reply, status, path);
      this.journal += await this.#readJournal();
    } finally {
      await lock.end();
    }
  }

  async #readJournal(): Promise<string> {
    for (;;) {
      const files = await filesIn(join(this.#dataDir, 'journal'));
      const texts = await Promise.all(files.map((file) => readFile(file, 'latin1'))).catch(
        (error: NodeJS.ErrnoException) => {
          // A segment is renamed when it is sealed, and again when telemetry has acknowledged it.
          if (error.code !== 'ENOENT') throw error;
        },
      );
      if (texts) return texts.join('');
    }
  }

  cookie(name: string): string {
    return this.#cookies.get(name) ?? assert.fail(`no ${name}`);
  }

  #note({ status, headers, text }: RawReply, expected: number, what: string): Answer {
    assert.equal(status, expected, `${what} ${text}`);
    const answer = `${status} ${JSON.stringify(headers)} ${text}`;
    this.answers.push(answer);
    return answer;
  }
}

async function filesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

async function accounts(run: Run): Promise<string> {
  const body = { email: EMAIL, password: PASSWORD };
  await run.api(201, 'POST', '/auth/register', { ...body, organization_name: 'Birds' });
  await run.api(409, 'POST', '/auth/register', { ...body, organization_name: 'Birds' });
  await run.api(400, 'POST', '/auth/register', { ...body, organization_name: PASSWORD.concat('<') });
  await run.api(400, 'POST', '/auth/login', JSON.stringify(body).slice(0, -1));
  await run.api(400, 'POST', '/auth/login', { email: EMAIL, password: [PASSWORD] });
  await run.api(401, 'POST', '/auth/login', { email: EMAIL, password: WRONG_PASSWORD });
  await run.api(503, 'POST', '/auth/google', { credential: CREDENTIAL });
  await run.api(200, 'POST', '/auth/login', body);
  await run.api(200, 'POST', '/auth/refresh');
  await run.api(200, 'POST', '/auth/logout');
  await run.api(200, 'POST', '/auth/login', body);
  await run.api(200, 'GET', '/auth/me');
  return (await run.api(200, 'GET', '/projects')).projects[0].id;
}

async function keysAndRequests(run: Run, projectId: string): Promise<void> {
  const mint = (more: object, headers = {}) =>
    run.api(201, 'POST', '/keys', { project_id: projectId, name: 'k', ...more }, headers);
  const once = { 'idempotency-key': 'once' };
  const key = await mint({}, once);
  await run.api(409, 'POST', '/keys', { project_id: projectId, name: 'k' }, once);
  const poor = await mint({ credit_limit_cents: 1 });
  const narrow = await mint({ allowed_models: ['demo/echo'] });
  const slow = await mint({});
  await run.api(200, 'PATCH', `/keys/${slow.id}`, { rate_limit_rpm: 1 });
  await run.api(400, 'PATCH', `/keys/${slow.id}`, { rate_limit_rpm: 1e9 });

  const secret: string = key.api_key;
  const bearer = (given: string) => ({ authorization: `Bearer ${given}` });
  await run.gateway(200, bearer(secret));
  await run.gateway(200, bearer(secret), { stream: true });
  await run.gateway(402, bearer(poor.api_key));
  await run.gateway(403, bearer(narrow.api_key), { model: 'openai/other' });
  await run.gateway(200, bearer(slow.api_key));
  await run.gateway(429, bearer(slow.api_key));
  // A key in a wrong place.
  await run.gateway(404, bearer(secret), { model: secret });
  await run.gateway(404, bearer(secret), {}, `/v1/${secret}?key=${secret}`);
  await run.gateway(200, {
    ...bearer(secret),
    'user-agent': `agent/${secret}`,
    'x-svc-meta-key': secret,
    [`x-svc-meta-${secret}`]: 'x',
  });
  await run.gateway(401, bearer(`${secret.slice(0, -2)}${secret.endsWith('00') ? '11' : '00'}`));
  await run.gateway(401, bearer(generateGatewayKey(randomBytes)));
  await run.api(404, 'DELETE', `/keys/${secret}`);
  await run.api(404, 'GET', `/${secret}`);
  await run.api(404, 'PATCH', `/keys/${run.cookie(ACCESS_COOKIE)}`, { rate_limit_rpm: 1 });
  await run.api(404, 'GET', `/analytics/requests?key_id=${secret}`);
  await run.api(200, 'GET', `/analytics/requests?search=${secret}`);
  await run.api(400, 'GET', `/analytics/requests?status_category=${run.cookie(REFRESH_COOKIE)}`);
  await run.api(400, 'POST', '/keys', { project_id: projectId, name: 'k', allowed_models: ['nope'] });

  await run.api(400, 'POST', '/vault/keys', { provider: 'nobody', api_key: PROVIDER_KEY });
  await run.api(400, 'POST', '/vault/keys', { provider: ['openai'], api_key: PROVIDER_KEY });
  await run.api(200, 'POST', '/vault/keys', { provider: 'openai', api_key: PROVIDER_KEY });
  await run.api(200, 'GET', '/vault/keys');

  await run.api(200, 'DELETE', `/keys/${key.id}`);
  await run.api(404, 'DELETE', `/keys/${key.id}`);
  await run.gateway(401, bearer(secret));
}

/** Waits until the request log is complete. */
async function shipped(run: Run): Promise<string> {
  const all = await eventually(async () => {
    const { total, requests } = await run.api(200, 'GET', '/analytics/requests?limit=200');
    return total >= 8 ? requests : undefined;
  });
  await run.api(200, 'GET', '/keys');
  await run.api(200, 'GET', '/activity?limit=200');
  return all[0].req_id;
}

async function telemetryDump(dataDir: string): Promise<string> {
  await using engine = await openEmbeddedClickHouse({ dataDir });
  const client = createTelemetryClient({ socketPath: engine.socketPath });
  try {
    const rows = async (query: string) => (await client.query({ query, format: 'TabSeparatedRaw' })).text();
    const listed = await rows(
      `SELECT concat('\`', database, '\`.\`', name, '\`') FROM system.tables
       WHERE engine NOT LIKE 'System%' AND lower(database) <> 'information_schema'`,
    );
    const tables = listed.trim().split('\n');
    assert.ok(
      tables.some((table) => table.includes('request_log')),
      listed,
    );
    const dumps = await Promise.all(tables.map((table) => rows(`SELECT * FROM ${table}`)));
    return dumps.join('\n');
  } finally {
    await client.close();
  }
}

/** The encodings in which a secret could appear. */
function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const decoded = /^[\w-]{43}$/.test(secret) ? [Buffer.from(secret, 'base64url').toString('hex')] : [];
  const hidden = secret.startsWith('sk_svc_') ? [secret.slice(15)] : [];
  return [
    secret,
    ...hidden,
    ...decoded,
    encodeURIComponent(secret),
    bytes.toString('hex'),
    bytes.toString('base64').replace(/.{2}=*$/, ''),
  ];
}

describe('the secrets of a whole run', () => {
  let directory: string;
  let run: Run;
  let requestId: string;
  let log: string;
  let tables: string;
  let telemetry: string;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-canary-'));
    const dataDir = join(directory, 'data');
    await using service = await startService({ DATA_DIR: dataDir, LOG_LEVEL: 'debug' });
    await using server = await openEmbeddedPostgres({ dataDir });
    await using database = openDatabase(server.connection, { poolSize: 2 });
    run = new Run(service, dataDir, database);
    await keysAndRequests(run, await accounts(run));
    requestId = await shipped(run);
    tables = await dumpTables(database);
    telemetry = await telemetryDump(dataDir);
    assert.equal(await service.end('SIGTERM'), 0);
    log = JSON.stringify(service.logLines) + service.told();
  });
  after(() => rm(directory, { recursive: true, force: true }));

  const assertNone = (text: string | Buffer, where: string) => {
    for (const secret of run.secrets.keys())
      for (const spelling of spellings(secret)) {
        // Header names are lower-case, so the search is too.
        for (const form of new Set([spelling, spelling.toLowerCase()]))
          assert.ok(!text.includes(form), `${form} is in ${where}`);
      }
  };

  it('include every kind', () => {
    const issued = [...run.secrets.keys()];
    assert.equal(issued.filter((secret) => secret.startsWith('sk_svc_')).length, 4);
    // Two sign-ins with two tokens each, and one refresh.
    assert.equal(issued.length, 4 + 4 + 5);
  });

  it('are in the answer that issued them and in no other', () => {
    for (const [secret, given] of run.secrets) {
      const others = run.answers.filter((answer) => answer !== given && answer.includes(secret));
      assert.deepEqual(others, [], secret);
      if (given !== null) assert.ok(given.includes(secret));
    }
  });

  it('are in no table of PostgreSQL', () => {
    assert.ok(tables.includes(EMAIL) && tables.includes('$argon2id$') && tables.includes('sk_svc_'));
    assertNone(tables, 'PostgreSQL');
  });

  it('are in no table of ClickHouse', () => {
    assert.ok(telemetry.includes(requestId) && telemetry.includes('agent/sk_svc_'));
    assertNone(telemetry, 'ClickHouse');
  });

  it('are neither in the log nor on the terminal', () => {
    assert.ok(log.includes(requestId) && log.includes('updateKey'));
    assertNone(log, 'the log');
  });

  it('are not in the journal', () => {
    assert.ok(run.journal.includes('demo/echo') && run.journal.includes('agent/sk_svc_'));
    assertNone(run.journal, 'the journal');
  });

  it('are in no file of the data directory', async () => {
    const parts = new Set<string>();
    let hasEmail = false;
    for (const path of await filesIn(join(directory, 'data'))) {
      const bytes = await readFile(path);
      hasEmail ||= bytes.includes(EMAIL);
      parts.add(path.slice(join(directory, 'data').length + 1).split('/')[0] ?? '');
      assertNone(bytes, path);
    }
    assert.ok(hasEmail, 'not even the address was found');
    for (const part of ['postgres', 'clickhouse']) assert.ok(parts.has(part), [...parts].join());
  });
});
