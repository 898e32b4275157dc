import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { auth, keys, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { completion, json, type MockProvider, startMockProvider } from '@gatehouse/gateway/testing';
import { createTestDatabase, type TestDatabase } from '@gatehouse/store/testing';
import { runCommand } from '../command-process.ts';
import { startService } from '../service-process.ts';

const ACCOUNT = { email: 'ada@example.com', password: 'correct horse battery staple' };
const PLATFORM_KEY = 'sk-platform-0123456789';

describe('secrets in files', () => {
  const stack = new AsyncDisposableStack();
  let directory: string;
  let test: TestDatabase;
  let provider: MockProvider;
  let environment: Record<string, string>;
  before(async () => {
    directory = stack.adopt(await mkdtemp(join(tmpdir(), 'gatehouse-files-')), (path) =>
      rm(path, { recursive: true, force: true }),
    );
    test = stack.use(await createTestDatabase());
    provider = stack.use(
      await startMockProvider(json(completion('Hi.', { prompt: 1_000, completion: 1_000 }))),
    );
    const { host, port, user, database } = test.address;
    const file = async (name: string, text: string) => {
      await writeFile(join(directory, name), text, { mode: 0o400 });
      return join(directory, name);
    };
    environment = {
      DATA_DIR: join(directory, 'data'),
      JOIN_POLICY: 'closed',
      SIGNUP_CREDIT_PKR: '1000',
      CATALOGUE: await file(
        'catalogue.yaml',
        `providers: { mock: { protocol: openai, base_url: "${provider.baseUrl}", api_key_env: MOCK_KEY } }
routes: [{ id: mock/a, provider: mock, upstream_model: a, price_pkr_per_million: { input: 70, output: 560 }, max_output_tokens: 100 }]`,
      ),
      DATABASE_URL_FILE: await file(
        'database_url',
        `postgresql:///${database}?host=${encodeURIComponent(host)}&port=${port}&user=${user}\n`,
      ),
      GATEHOUSE_MASTER_KEY_FILE: await file('master_key', `${Buffer.alloc(32, 7).toString('base64')}\n`),
      MOCK_KEY_FILE: await file('mock_key', `${PLATFORM_KEY}\n`),
    };
  });
  after(() => stack.disposeAsync());

  it('open the database, and reach the provider', async () => {
    await using service = await startService(environment);
    assert.match(service.told(), /PostgreSQL +external \(DATABASE_URL\)/);
    assert.match(service.told(), /Providers +mock can be used/);
    const api = new ApiClient(service.apiPort);
    await api.call(auth.register, { body: { ...ACCOUNT, organization_name: 'Acme' } });
    await api.call(auth.login, { body: ACCOUNT });
    const project = (await api.call(organization.listProjects)).projects[0];
    const { api_key } = await api.call(keys.createKey, { body: { project_id: project?.id, name: 'k' } });
    const answer = await fetch(`http://127.0.0.1:${service.gatewayPort}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'mock/a', messages: [{ role: 'user', content: 'Hi' }] }),
    });
    assert.equal(answer.status, 200, await answer.text());
    assert.equal(provider.asked.at(-1)?.headers.authorization, `Bearer ${PLATFORM_KEY}`);
  });

  it("are used by the operator's commands", async () => {
    const { code, stdout, stderr } = await runCommand(['org', 'list'], { environment });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /Acme/);
  });

  it("stop the start in one line where a provider's key cannot be used", async () => {
    const refused = async (more: Record<string, string>, message: string) => {
      const { code, stderr } = await runCommand(['start'], {
        environment: { PORT: '0', GATEWAY_PORT: '0', ...environment, ...more },
      });
      assert.equal(code, 1);
      assert.deepEqual(stderr.split('\n').slice(-2), [`gatehouse: ${message}`, '']);
    };
    await refused({ MOCK_KEY: PLATFORM_KEY }, 'MOCK_KEY and MOCK_KEY_FILE are set; expected one of them');
    const none = join(directory, 'none');
    await refused(
      { MOCK_KEY_FILE: none },
      `MOCK_KEY_FILE is "${none}", which cannot be read: ENOENT: no such file or directory, open '${none}'; set it to a file that holds the value of MOCK_KEY, or remove it`,
    );
  });
});
