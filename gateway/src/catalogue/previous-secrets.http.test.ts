import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { beforeEach, describe, it } from 'node:test';
import { gatewayKeyPrefix, generateGatewayKey, hashGatewayKey } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { waitUntil } from '../journal/testing/wait-until.ts';
import { assertError, useBench } from '../testing/bench.ts';
import { completion, json } from '../testing/mock-provider.ts';
import { type IssuedKey, issueKey } from '../testing/test-gateway.ts';

const bench = await useBench();
const ANSWERED = 200;

// As POST /keys/{key_id}/rotate writes it.
describe('a key that was rotated', () => {
  let key: IssuedKey;
  let newSecret: string;
  beforeEach(async () => {
    bench.provider.script = json(completion('x', { prompt: 10, completion: 10 }));
    key = await issueKey(bench.database);
    // Its facts are known by the secret that is about to be the previous one.
    assert.equal(await ask(key.secret), ANSWERED);
    newSecret = await rotate(60);
  });

  const ask = async (secret: string) => {
    const response = await bench.gateway.chat(secret, {});
    await response.body?.cancel();
    return response.status;
  };
  const rotate = async (graceSeconds: number) => {
    const secret = generateGatewayKey(randomBytes);
    const [prefix, hash] = [gatewayKeyPrefix(secret), hashGatewayKey(secret)];
    await runSql(bench.owner)`
      INSERT INTO previous_secrets (key_id, organization_id, secret_hash, key_prefix, valid_until)
      SELECT id, organization_id, secret_hash, key_prefix, clock_timestamp() + ${graceSeconds} * interval '1 second'
      FROM api_keys WHERE id = ${key.id}
      ON CONFLICT (key_id) DO UPDATE SET secret_hash = excluded.secret_hash, valid_until = excluded.valid_until`;
    await runSql(bench.owner)`
      UPDATE api_keys SET secret_hash = ${hash}, key_prefix = ${prefix} WHERE id = ${key.id}`;
    return secret;
  };
  const endGrace = () => runSql(bench.owner)`
    UPDATE previous_secrets SET valid_until = clock_timestamp() WHERE key_id = ${key.id}`;

  it('is served by both secrets, under one key', async () => {
    for (const secret of [key.secret, newSecret, key.secret, newSecret]) {
      const response = await bench.gateway.chat(secret, {});
      assert.equal(response.status, ANSWERED);
      await bench.assertRecord(response, { keyId: key.id });
    }
  });

  it('401 for the previous secret from the moment that its grace ends, by the clock of the database', async () => {
    for (let repeat = 0; repeat < 3; repeat += 1) assert.equal(await ask(key.secret), ANSWERED);
    await endGrace();
    const response = await bench.gateway.chat(key.secret, {});
    await assertError(response, { status: 401, code: 'invalid_api_key', type: 'authentication_error' });
    assert.equal(await ask(newSecret), ANSWERED);
  });

  it('401 at once for the previous secret of the one before, and where no grace was given', async () => {
    const third = await rotate(60);
    assert.deepEqual(
      [await ask(key.secret), await ask(newSecret), await ask(third)],
      [401, ANSWERED, ANSWERED],
    );
    const fourth = await rotate(0);
    assert.deepEqual([await ask(third), await ask(newSecret), await ask(fourth)], [401, 401, ANSWERED]);
  });

  it('notes when the previous secret was used, and not for the new one', async () => {
    const lastUse = async () => {
      const [row] = await runSql<{ isRecent: boolean | null }>(bench.owner)`
        SELECT last_used_at > clock_timestamp() - interval '1 minute' AS "isRecent"
        FROM previous_secrets WHERE key_id = ${key.id}`;
      return row?.isRecent;
    };
    assert.equal(await ask(newSecret), ANSWERED);
    assert.equal(await lastUse(), null);
    assert.equal(await ask(key.secret), ANSWERED);
    // It is noted beside the request.
    await waitUntil('the use is noted', async () => (await lastUse()) === true);
  });

  it('401 for both secrets once it is revoked', async () => {
    await runSql(bench.owner)`UPDATE api_keys SET revoked_at = clock_timestamp() WHERE id = ${key.id}`;
    assert.deepEqual([await ask(key.secret), await ask(newSecret)], [401, 401]);
    // Nothing admits a request that costs nothing, so it is refused when the key is read.
    for (const secret of [key.secret, newSecret]) {
      const response = await bench.gateway.fetch('/v1/models', {
        headers: { authorization: `Bearer ${secret}` },
      });
      assert.equal(response.status, 401);
    }
  });
});
