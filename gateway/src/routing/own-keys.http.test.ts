import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sql, statement } from '@gatehouse/store';
import { json } from '../testing/mock-provider.ts';
import { type IssuedKey, issueKey, moneyOf } from '../testing/test-gateway.ts';
import { storeVaultKey } from '../testing/vault-key.ts';
import { askedDuring, credentialOf, endings, failing, served, useRouting } from './routing.fixture.ts';

const allowFallback = statement<{ projectId: string }>(
  'gateway-test-allow-fallback',
  sql`UPDATE projects SET byok_fallback = true WHERE id = ${'projectId'}`,
);

const bench = await useRouting();
const { gateway, first, second } = bench;
const OWN_KEY = 'sk-own-0123456789abcdef';

/** An organisation with its own key for one of the route's providers. */
async function organization(provider: string, options: { fallback?: true; depositedMicroPkr?: bigint } = {}) {
  const key = await issueKey(bench.database, options);
  await storeVaultKey(bench.database, key, provider, OWN_KEY);
  if (options.fallback) await bench.owner.run(allowFallback, { projectId: key.projectId });
  return key;
}

async function ask(key: IssuedKey, model: string) {
  const before = await moneyOf(bench.database, key.id);
  const response = await gateway.chat(key.secret, { model, max_tokens: 5 });
  const text = await response.text();
  const record = await bench.recordOf(response);
  const { keyHeld } = await moneyOf(bench.database, key.id);
  assert.equal(keyHeld - before.keyHeld, record.costMicroPkr);
  return { response, text, record };
}

// 11 tokens of a prompt and 5 of an answer: at their price, and the fee of 5 %.
const PRICE = 11n * 70n + 5n * 560n;
const FEE = (PRICE * 5n + 50n) / 100n;

describe("an organisation's own key", () => {
  it('200 with it alone, where a target has it, whatever the priorities are', async () => {
    const id = await bench.addTwo();
    const key = await organization(`${id} second`);
    let record: Awaited<ReturnType<typeof ask>>['record'] | undefined;
    const asked = await askedDuring(first, async () => {
      ({ record } = await ask(key, id));
    });
    assert.equal(asked.length, 0);
    assert.equal(credentialOf(second.asked.at(-1) ?? assert.fail()), 'own');
    assert.deepEqual(record && [record.isByok, record.costMicroPkr, endings(record)], [
      true,
      FEE,
      ['own served'],
    ]);
  });

  for (const status of [500, 429, 401, 403]) {
    it(`${status} as it came: platform capacity is not used instead`, async () => {
      const id = await bench.addTwo();
      const key = await organization(`${id} first`);
      first.script = json({ error: { message: 'no' } }, status);
      const asked = await askedDuring(second, async () => {
        const { response, record } = await ask(key, id);
        assert.equal(response.status, status);
        assert.deepEqual(
          [record.isByok, record.costMicroPkr, endings(record)],
          [true, 0n, ['own error_status']],
        );
      });
      assert.equal(asked.length, 0);
    });

    it(`200 from platform capacity after ${status}, where the operator allowed it for the project`, async () => {
      const id = await bench.addTwo();
      const key = await organization(`${id} first`, { fallback: true });
      first.script = (response, asked) =>
        (credentialOf(asked) === 'own' ? json({ error: { message: 'no' } }, status) : served)(
          response,
          asked,
        );
      const { response, record } = await ask(key, id);
      assert.equal(response.status, 200);
      assert.deepEqual(
        record.attempts.map(({ isByok, ending, costMicroPkr }) => [isByok, ending, costMicroPkr]),
        [
          [true, 'error_status', 0n],
          [false, 'served', PRICE],
        ],
      );
      assert.deepEqual([record.isByok, record.costMicroPkr], [false, PRICE]);
    });
  }

  it('200 from the second of two own keys, where the first fails', async () => {
    const id = await bench.addTwo();
    const key = await organization(`${id} first`);
    await storeVaultKey(bench.database, key, `${id} second`, OWN_KEY);
    first.script = failing;
    const { response, record } = await ask(key, id);
    assert.equal(response.status, 200);
    assert.deepEqual([record.isByok, endings(record)], [true, ['own error_status', 'own served']]);
  });

  it('200 without a balance, and nothing falls back to what it cannot pay', async () => {
    const id = await bench.addTwo();
    const key = await organization(`${id} first`, { fallback: true, depositedMicroPkr: 0n });
    assert.equal((await ask(key, id)).response.status, 200);
    first.script = failing;
    const { response, record } = await ask(key, id);
    assert.equal(response.status, 500);
    assert.deepEqual(endings(record), ['own error_status']);
  });

  it('503 where it cannot be opened, and 200 from platform capacity where that is allowed', async () => {
    const id = await bench.addTwo();
    const key = await organization(`${id} first`);
    await bench.owner.run(spoil, { organizationId: key.organizationId });
    assert.equal((await ask(key, id)).response.status, 503);
    await bench.owner.run(allowFallback, { projectId: key.projectId });
    const { response, record } = await ask(key, id);
    assert.equal(response.status, 200);
    assert.deepEqual([record.isByok, endings(record)], [false, ['default served']]);
  });

  it('429 of one organisation cools no other organisation, nor the platform', async () => {
    const id = await bench.addTwo();
    const key = await organization(`${id} first`);
    const other = await organization(`${id} first`);
    first.script = json({}, 429, { 'retry-after': '60' });
    assert.equal((await ask(key, id)).response.status, 429);
    first.script = served;
    const asked = await askedDuring(first, async () => {
      assert.equal((await ask(other, id)).response.status, 200);
      assert.equal((await ask(await issueKey(bench.database), id)).response.status, 200);
    });
    assert.equal(asked.length, 2);
    const ready = await (await gateway.fetch('/readyz')).json();
    assert.deepEqual(ready, { status: 'ready' });
  });
});

const spoil = statement<{ organizationId: string }>(
  'gateway-test-spoil-vault-key',
  sql`UPDATE vault_keys SET sealed_key = substring(sealed_key FOR 20) WHERE organization_id = ${'organizationId'}`,
);
