import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { auth, keys, organization, vault } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { completion, json, type MockProvider, startMockProvider } from '@gatehouse/gateway/testing';
import { MasterKey } from '@gatehouse/store';
import { createTestDatabase, TEST_MASTER_KEY } from '@gatehouse/store/testing';
import { jsonOf, runCommand } from '../command-process.ts';
import { startService } from '../service-process.ts';

const ACCOUNT = { email: 'ada@example.com', password: 'correct horse battery staple' };
const OWN_KEY = 'sk-own-0123456789-abcd';

describe('the vault, from a stored key to a request with it', () => {
  let directory: string;
  let provider: MockProvider;
  let catalogue: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-vault-'));
    provider = await startMockProvider(json(completion('Hi.', { prompt: 1_000, completion: 1_000 })));
    catalogue = join(directory, 'catalogue.yaml');
    await writeFile(
      catalogue,
      `providers: { mock: { protocol: openai, base_url: "${provider.baseUrl}", api_key_env: MOCK_KEY } }
routes: [{ id: mock/a, provider: mock, upstream_model: a, price_pkr_per_million: { input: 70, output: 560 }, byok_fee_percent: 5, max_output_tokens: 100 }]`,
    );
  });
  after(async () => {
    await provider?.[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  /** An account with a stored key and a gateway key; its next request is answered with the stored key. */
  async function signUp(apiPort: number): Promise<{ api: ApiClient; secret: string }> {
    const api = new ApiClient(apiPort);
    await api.call(auth.register, { body: { ...ACCOUNT, organization_name: 'Acme' } });
    await api.call(auth.login, { body: ACCOUNT });
    await api.call(vault.setVaultKey, { body: { provider: 'mock', api_key: OWN_KEY } });
    const project = (await api.call(organization.listProjects)).projects[0];
    const { api_key } = await api.call(keys.createKey, { body: { project_id: project?.id, name: 'k' } });
    return { api, secret: api_key };
  }
  async function assertOwnKeyUsed(gatewayPort: number, secret: string): Promise<void> {
    const answer = await fetch(`http://127.0.0.1:${gatewayPort}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'mock/a', messages: [{ role: 'user', content: 'Hi' }] }),
    });
    assert.equal(answer.status, 200, await answer.text());
    assert.equal(provider.asked.at(-1)?.headers.authorization, `Bearer ${OWN_KEY}`);
  }

  it('embedded: the key is created, rotated under a running service, and required when it is wrong or lost', async () => {
    const environment = { DATA_DIR: join(directory, 'data'), CATALOGUE: catalogue };
    const file = join(environment.DATA_DIR, 'master.key');
    let secret: string;
    {
      await using service = await startService(environment);
      const account = await signUp(service.apiPort);
      ({ secret } = account);
      await assertOwnKeyUsed(service.gatewayPort, secret);
      assert.equal((await stat(file)).mode & 0o777, 0o600);
      const before = await readFile(file, 'utf8');

      const rotated = await jsonOf(['vault', 'rotate'], { environment });
      assert.deepEqual([rotated['rewrapped'], rotated['records'], rotated['left_behind']], [1, 1, []]);
      const text = await readFile(file, 'utf8');
      assert.notEqual(text, before);
      assert.equal(MasterKey.fromText(text)?.id, rotated['master_key_id']);
      assert.equal((await stat(file)).mode & 0o777, 0o600);
      assert.deepEqual(
        (await readdir(environment.DATA_DIR)).filter((name) => name.startsWith('master.key')),
        ['master.key'],
      );
      // The running process has picked it up automatically.
      await assertOwnKeyUsed(service.gatewayPort, secret);
      await account.api.call(vault.setVaultKey, { body: { provider: 'mock', api_key: OWN_KEY } });
      await assertOwnKeyUsed(service.gatewayPort, secret);
    }
    const right = await readFile(file);
    await writeFile(file, MasterKey.generate().reveal());
    const wrong = await runCommand(['start'], {
      environment: { ...environment, PORT: '0', GATEWAY_PORT: '0' },
    });
    assert.equal(wrong.code, 1);
    assert.match(
      wrong.stderr,
      /\ngatehouse: the master key is not the one that the vault is encrypted under: [^\n]*; nothing was changed\n$/,
    );
    await rm(file);
    const lost = await runCommand(['start'], {
      environment: { ...environment, PORT: '0', GATEWAY_PORT: '0' },
    });
    assert.equal(lost.code, 1);
    assert.match(lost.stderr, /\ngatehouse: [^\n]*master\.key is missing, [^\n]*\n$/);
    await writeFile(file, right, { mode: 0o600 });
    await using again = await startService(environment);
    await assertOwnKeyUsed(again.gatewayPort, secret);
  });

  it('external: two processes with both keys keep serving during the rotation, and need one key afterwards', async () => {
    await using test = await createTestDatabase();
    const { host, port, database, user } = test.address;
    const newKeyFile = join(directory, 'new-key');
    const newKey = MasterKey.generate();
    await writeFile(newKeyFile, newKey.reveal());
    const base = {
      DATABASE_URL: `postgresql:///${database}?host=${encodeURIComponent(host)}&port=${port}&user=${user}`,
      JOIN_POLICY: 'closed',
      SIGNUP_CREDIT_PKR: '1000',
      CATALOGUE: catalogue,
      DATA_DIR: join(directory, 'external'),
    };
    const both = {
      GATEHOUSE_MASTER_KEY: TEST_MASTER_KEY.reveal(),
      GATEHOUSE_NEW_MASTER_KEY_COMMAND: `cat ${newKeyFile}`,
    };
    let secret: string;
    {
      await using api = await startService({ ...base, ...both }, ['--role', 'api']);
      await using gateway = await startService({ ...base, ...both }, ['--role', 'gateway']);
      ({ secret } = await signUp(api.apiPort));
      await assertOwnKeyUsed(gateway.gatewayPort, secret);

      const old = { GATEHOUSE_MASTER_KEY: TEST_MASTER_KEY.reveal() };
      const none = await runCommand(['vault', 'rotate'], { environment: { ...base, ...old } });
      assert.equal(none.code, 1);
      assert.match(none.stderr, /^gatehouse: no new master key is given: [^\n]*\n$/);
      const given = { ...base, ...old };
      const rotated = await jsonOf(['vault', 'rotate', '--new-key-file', newKeyFile], { environment: given });
      assert.deepEqual([rotated['master_key_id'], rotated['rewrapped']], [newKey.id, 1]);
      await assertOwnKeyUsed(gateway.gatewayPort, secret);
    }
    const alone = { GATEHOUSE_MASTER_KEY_FILE: newKeyFile };
    await using gateway = await startService({ ...base, ...alone }, ['--role', 'gateway']);
    await assertOwnKeyUsed(gateway.gatewayPort, secret);
    for (const role of ['api', 'gateway']) {
      const { code, stderr } = await runCommand(['start', '--role', role], {
        environment: {
          ...base,
          GATEHOUSE_MASTER_KEY: TEST_MASTER_KEY.reveal(),
          PORT: '0',
          GATEWAY_PORT: '0',
        },
      });
      assert.equal(code, 1);
      assert.match(stderr, /the master key is not the one/);
    }
  });
});
