import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { MasterKey } from '@gatehouse/store';
import { createTestDatabase, rawSql, runSql, type TestDatabase } from '@gatehouse/store/testing';
import { assertError } from '../testing/bench.ts';
import { type MockProvider, startMockProvider } from '../testing/mock-provider.ts';
import {
  addRoute,
  type IssuedKey,
  issueKey,
  startTestGateway,
  type TestGateway,
} from '../testing/test-gateway.ts';
import { storeVaultKey } from '../testing/vault-key.ts';

const SECRETS = ['sk-first-0123456789', 'sk-second-0123456789'] as const;
const [ROUTES, PROVIDERS] = [
  ['mock/one', 'mock/two'],
  ['provider of mock/one', 'provider of mock/two'],
] as const;

describe('a stored provider key that was tampered with', () => {
  let test: TestDatabase;
  let provider: MockProvider;
  let gateway: TestGateway;
  before(async () => {
    test = await createTestDatabase();
    provider = await startMockProvider();
    gateway = await startTestGateway(test.database);
    for (const id of ROUTES) await addRoute(test.database, { id, baseUrl: provider.baseUrl });
  });
  after(async () => {
    await gateway?.[Symbol.asyncDispose]();
    await provider?.[Symbol.asyncDispose]();
    await test?.[Symbol.asyncDispose]();
  });

  /** The number of vault keys that changed. In the text, `ids` are the organisations. */
  const tamper = async (text: string, organizationIds: readonly string[]) => {
    const changed = await runSql(test.database)`
      WITH ids AS (SELECT unnest(${organizationIds}::uuid[])) ${rawSql(text)} RETURNING 1`;
    return changed.length;
  };
  const swap = (column: string) =>
    `UPDATE vault_keys v SET ${column} = other.${column} FROM vault_keys other
     WHERE v.organization_id IN (TABLE ids) AND other.organization_id IN (TABLE ids)
       AND v.organization_id <> other.organization_id`;
  const flip = (column: string, byte: number) =>
    `UPDATE vault_keys SET ${column} = set_byte(${column}, ${byte}, get_byte(${column}, ${byte}) # 1)
     WHERE organization_id IN (TABLE ids)`;

  const cases: [string, string][] = [
    ["its ciphertext is another organisation's", swap('sealed_key')],
    ["its wrapped key is another organisation's", swap('wrapped_key')],
    [
      "both are another organisation's, its version too",
      swap('(sealed_key, wrapped_key, version)').replace(
        'other.(sealed_key, wrapped_key, version)',
        '(other.sealed_key, other.wrapped_key, other.version)',
      ),
    ],
    ['its nonce was altered', flip('sealed_key', 0)],
    ['its ciphertext was altered', flip('sealed_key', 14)],
    ['the nonce of its wrapped key was altered', flip('wrapped_key', 11)],
    ['its wrapped key was altered', flip('wrapped_key', 12)],
    [
      'its version was altered',
      'UPDATE vault_keys SET version = version + 1000 WHERE organization_id IN (TABLE ids)',
    ],
    ['it was cut to nothing', `UPDATE vault_keys SET sealed_key = '' WHERE organization_id IN (TABLE ids)`],
  ];
  for (const [title, text] of cases) {
    it(`503 when ${title}; nothing goes out, and the log says so without it`, async () => {
      const keys = [await issueKey(test.database), await issueKey(test.database)];
      for (const [index, key] of keys.entries())
        await storeVaultKey(test.database, key, PROVIDERS[0], SECRETS[index] ?? '');
      for (const { secret } of keys)
        assert.equal((await gateway.chat(secret, { model: ROUTES[0] })).status, 200);
      assert.equal(
        await tamper(
          text,
          keys.map(({ organizationId }) => organizationId),
        ),
        2,
      );
      for (const key of keys) await assertClosed(key, ROUTES[0], PROVIDERS[0]);
    });
  }

  it('503 when it was moved to another organisation or provider', async () => {
    const [owner, other] = [await issueKey(test.database), await issueKey(test.database)];
    await storeVaultKey(test.database, owner, PROVIDERS[0], SECRETS[0]);
    await runSql(test.database)`
      UPDATE vault_keys SET organization_id = ${other.organizationId} WHERE organization_id = ${owner.organizationId}`;
    await assertClosed(other, ROUTES[0], PROVIDERS[0]);
    await storeVaultKey(test.database, owner, PROVIDERS[0], SECRETS[0]);
    await runSql(test.database)`
      UPDATE vault_keys SET provider = ${PROVIDERS[1]} WHERE organization_id = ${owner.organizationId}`;
    await assertClosed(owner, ROUTES[1], PROVIDERS[1]);
  });

  it('503 when it is under a master key that this gateway does not have', async () => {
    const key = await issueKey(test.database);
    await storeVaultKey(test.database, key, PROVIDERS[0], SECRETS[0], MasterKey.generate());
    const asked = provider.asked.length;
    const response = await gateway.chat(key.secret, { model: ROUTES[0] });
    await assertError(response, { status: 503, code: 'service_unavailable', type: 'server_error' });
    assert.equal(provider.asked.length, asked);
    const line = gateway.logged.findLast(({ level }) => level === 50);
    assert.equal(line?.['organization_id'], key.organizationId);
  });

  async function assertClosed(key: IssuedKey, model: string, providerName: string): Promise<void> {
    const asked = provider.asked.length;
    const lines = gateway.logged.length;
    const response = await gateway.chat(key.secret, { model });
    const message = await assertError(response, {
      status: 503,
      code: 'upstream_not_configured',
      type: 'upstream_error',
    });
    assert.ok(message.includes(providerName));
    assert.equal(provider.asked.length, asked, 'the platform does not stand in');
    const record = await gateway.journal.recordOf(response.headers.get('x-request-id') ?? '');
    assert.deepEqual([record.isByok, record.costMicroPkr, record.status], [true, 0n, 503]);
    const errors = gateway.logged.slice(lines).filter(({ level }) => level === 50);
    assert.equal(errors.length, 1);
    assert.deepEqual(
      [errors[0]?.['organization_id'], errors[0]?.['provider'], errors[0]?.['request_id']],
      [key.organizationId, providerName, record.requestId],
    );
    assert.ok(!SECRETS.some((secret) => JSON.stringify(gateway.logged).includes(secret)));
    assert.equal(record.isHeld, false, 'nothing was set aside for it');
  }
});
