import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { activity, vault } from '@gatehouse/contract';
import { fixedKeyRing, MAX_WRAPS, MasterKey, openRecord, type SealedRecord } from '@gatehouse/store';
import { runSql, TEST_MASTER_KEY } from '@gatehouse/store/testing';
import { dumpTables } from '../testing/dump-tables.ts';
import { cookieOf } from '../testing/key-account.ts';
import { type SignedUp, startTestApi, type TestApi } from '../testing/test-api.ts';

const SECRET = 'sk-provider-0123456789abcdef-WXYZ';

const addProviders = (api: TestApi) =>
  runSql(api.database)`
    WITH p AS (
      INSERT INTO providers (name, protocol)
      VALUES ('openai', 'openai'), ('anthropic', 'anthropic'), ('local', 'openai'), ('demo', 'demo'))
    INSERT INTO provider_credentials (provider, name, position, api_key_env)
    VALUES ('openai', 'first', 0, 'OPENAI_API_KEY'), ('openai', 'second', 1, 'OPENAI_API_KEY_2'),
           ('anthropic', 'default', 0, 'ANTHROPIC_API_KEY')`;

const findRecord = async (api: TestApi, { organizationId }: SignedUp, provider: string) =>
  (
    await runSql<SealedRecord>(api.database)`
      SELECT organization_id AS "organizationId", provider, version, wrapped_key AS "wrappedKey",
             sealed_key AS "sealedKey", master_key_id AS "masterKeyId"
      FROM vault_keys WHERE organization_id = ${organizationId} AND provider = ${provider}`
  )[0];

const eventsOf = async ({ client }: SignedUp) => {
  const { events } = await client.call(activity.listActivity, { query: { limit: 200 } });
  return events.filter(({ action }) => action.startsWith('vault_key.')).map((e) => `${e.action} ${e.target}`);
};

describe('the vault', () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
    await addProviders(api);
  });
  after(() => api?.[Symbol.asyncDispose]());

  it('200 with the hint and the times only; the key is sealed in the database, and recorded', async () => {
    const account = await api.signUp();
    const stored = await account.client.call(vault.setVaultKey, {
      body: { provider: 'openai', api_key: ` ${SECRET}\n`, base_url: 'http://169.254.169.254', version: 9 },
    });
    assert.deepEqual(Object.keys(stored), ['provider', 'key_hint', 'created_at', 'updated_at']);
    assert.deepEqual(
      [stored.provider, stored.key_hint, stored.updated_at],
      ['openai', 'WXYZ', stored.created_at],
    );
    const record = await findRecord(api, account, 'openai');
    assert.ok(record);
    assert.equal(openRecord(TEST_MASTER_KEY, record), SECRET);
    assert.deepEqual(await eventsOf(account), ['vault_key.set openai']);
    assert.deepEqual(await account.client.call(vault.listVaultKeys), { keys: [stored] });

    const replaced = await account.client.call(vault.setVaultKey, {
      body: { provider: 'openai', api_key: 'elevenchars' },
    });
    assert.deepEqual([replaced.key_hint, replaced.created_at], [null, stored.created_at]);
    assert.ok(replaced.updated_at > stored.updated_at);
    const next = await findRecord(api, account, 'openai');
    assert.ok(next && next.version > record.version);
    assert.equal(openRecord(TEST_MASTER_KEY, next), 'elevenchars');
  });

  it('200 listing the keys of the own organisation by provider', async () => {
    const account = await api.signUp();
    for (const provider of ['openai', 'anthropic'])
      await account.client.call(vault.setVaultKey, { body: { provider, api_key: SECRET } });
    const { keys } = await account.client.call(vault.listVaultKeys);
    assert.deepEqual(
      keys.map(({ provider }) => provider),
      ['anthropic', 'openai'],
    );
    const other = await api.signUp();
    assert.deepEqual(await other.client.call(vault.listVaultKeys), { keys: [] });
  });

  it('200 for a removal, 404 for the next one, with one event', async () => {
    const account = await api.signUp();
    await account.client.call(vault.setVaultKey, { body: { provider: 'openai', api_key: SECRET } });
    const params = { provider: 'openai' };
    const { message } = await account.client.call(vault.revokeVaultKey, { params });
    assert.equal(message, 'The key for openai is removed.');
    assert.deepEqual(await account.client.refused(vault.revokeVaultKey, 404, { params }), {
      error: 'Vault key not found.',
    });
    assert.deepEqual(await eventsOf(account), ['vault_key.revoked openai', 'vault_key.set openai']);
  });

  it('404 for a path that names no stored provider', async () => {
    const account = await api.signUp();
    await account.client.call(vault.setVaultKey, { body: { provider: 'openai', api_key: SECRET } });
    const headers = { cookie: cookieOf(account) };
    for (const name of '..%2fopenai OPENAI x%00 %20openai openai%20 anthropic %EF%BB%BFopenai'.split(' ')) {
      const path = `/api/vault/keys/${name}`;
      assert.equal((await account.client.raw({ method: 'DELETE', path, headers })).status, 404, name);
    }
    assert.equal((await account.client.call(vault.listVaultKeys)).keys.length, 1);
  });

  it('400 for a provider that is unknown or takes no key, naming those that do; nothing is stored', async () => {
    const account = await api.signUp();
    for (const [provider, issue] of [
      ['mistral', "There is no provider 'mistral'. Known"],
      ['http://169.254.169.254', "There is no provider 'http://169.254.169.254'. Known"],
      ['local', "The provider 'local' takes no key. Those that do"],
      ['demo', "The provider 'demo' takes no key. Those that do"],
    ] as const) {
      const body = { provider, api_key: SECRET };
      assert.deepEqual(await account.client.refused(vault.setVaultKey, 400, { body }), {
        error: `${issue}: anthropic, openai.`,
      });
    }
    assert.deepEqual(await account.client.call(vault.listVaultKeys), { keys: [] });
    assert.deepEqual(await eventsOf(account), []);
  });

  it('400 for an invalid key, without repeating it', async () => {
    const { client } = await api.signUp();
    const cases: [unknown, string][] = [
      [undefined, 'missing'],
      [null, 'wrong_type'],
      [5, 'wrong_type'],
      ['', 'blank'],
      [' \n ', 'blank'],
      ['sk-with space', 'not_a_provider_key'],
      ['sk-line\r\nx-evil: 1', 'not_a_provider_key'],
      ['sk-nul\u0000', 'not_a_provider_key'],
      ['sk-\ud800', 'not_a_provider_key'],
      ['sk-café', 'not_a_provider_key'],
      ['s'.repeat(4_097), 'too_long'],
    ];
    for (const [api_key, type] of cases) {
      const reply = await client.send(vault.setVaultKey, { body: { provider: 'openai', api_key } });
      assert.equal(reply.status, 400, reply.text);
      const { detail } = JSON.parse(reply.text) as { detail: { loc: string[]; type: string }[] };
      assert.deepEqual(
        detail.map((issue) => [issue.loc.join('.'), issue.type]),
        [['body.api_key', type]],
      );
      assert.ok(!reply.text.includes('sk-'));
    }
    await client.call(vault.setVaultKey, { body: { provider: 'openai', api_key: 's'.repeat(4_096) } });
    for (const provider of [5, null, undefined, 'a\u0000b'])
      await client.refused(vault.setVaultKey, 400, { body: { provider, api_key: SECRET } });
  });

  it('200 for 100 concurrent changes, whose events are in the order of the changes', async () => {
    const account = await api.signUp();
    const { client } = account;
    const replies = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        if (index % 3 === 2) {
          const reply = await client.send(vault.revokeVaultKey, { params: { provider: 'openai' } });
          assert.ok(reply.status === 200 || reply.status === 404, reply.text);
          return reply.status === 200 ? 'revoked' : 'none';
        }
        await client.call(vault.setVaultKey, {
          body: { provider: 'openai', api_key: `sk-number-${String(index).padStart(4, '0')}` },
        });
        return 'set';
      }),
    );
    const events = (await eventsOf(account)).map((event) => event.split(/[. ]/)[1]);
    const count = (kind: string, list: readonly (string | undefined)[]) =>
      list.filter((one) => one === kind).length;
    for (const kind of ['set', 'revoked']) assert.equal(count(kind, events), count(kind, replies), kind);
    // Oldest first. Only a stored key can be removed, so two removals never follow each other.
    const history = events.toReversed();
    assert.equal(history[0], 'set');
    for (const [index, event] of history.entries())
      assert.ok(event === 'set' || history[index - 1] === 'set', 'a removal without a key');
    const { keys } = await client.call(vault.listVaultKeys);
    assert.equal(keys.length, history.at(-1) === 'set' ? 1 : 0, 'the last event decides');
    const record = await findRecord(api, account, 'openai');
    if (record) assert.match(openRecord(TEST_MASTER_KEY, record), /^sk-number-\d{4}$/);
  });

  it('503 once the organisation reaches the wrap limit, logged; nothing is stored', async () => {
    const account = await api.signUp();
    await runSql(api.database)`
      INSERT INTO vault_wraps (organization_id, master_key_id, wraps) VALUES (${account.organizationId}, ${TEST_MASTER_KEY.id}, ${MAX_WRAPS - 1n})`;
    const body = { provider: 'openai', api_key: SECRET };
    await account.client.call(vault.setVaultKey, { body });
    const before = await findRecord(api, account, 'openai');
    const rejected = await account.client.refused(vault.setVaultKey, 503, { body });
    assert.match(String(rejected['error']), /until its operator has rotated the master key/);
    assert.deepEqual(await findRecord(api, account, 'openai'), before);
    assert.deepEqual(await eventsOf(account), ['vault_key.set openai']);
    assert.ok(
      api.logLines.some(
        (line) =>
          line['event'] === 'vault.wrap_limit_reached' && line['organization_id'] === account.organizationId,
      ),
    );
  });

  it('leaves no part of a key in the database or the log', async () => {
    const dump = await dumpTables(api.owner);
    const logged = JSON.stringify(api.logLines);
    for (const text of [dump, logged]) {
      for (const secret of [SECRET, Buffer.from(SECRET).toString('hex'), SECRET.slice(4, 16), 'sk-number'])
        assert.ok(!text.includes(secret));
    }
    assert.ok(!dump.includes(Buffer.from(TEST_MASTER_KEY.reveal(), 'base64').toString('hex')));
  });
});

describe('a vault whose master key is not available', () => {
  it('503 for storing a key, unrecorded; listing and removing still work', async () => {
    const keys = [TEST_MASTER_KEY];
    await using api = await startTestApi({}, { keyRing: fixedKeyRing(keys) });
    await addProviders(api);
    const account = await api.signUp();
    const body = { provider: 'openai', api_key: SECRET };
    await account.client.call(vault.setVaultKey, { body });
    keys.splice(0, 1, MasterKey.generate());
    assert.deepEqual(await account.client.refused(vault.setVaultKey, 503, { body }), {
      error: 'The vault cannot be used right now.',
    });
    assert.equal((await account.client.call(vault.listVaultKeys)).keys.length, 1);
    assert.deepEqual(await eventsOf(account), ['vault_key.set openai']);
    await account.client.call(vault.revokeVaultKey, { params: { provider: 'openai' } });
  });
});
