import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keys } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { mintKey, signUpForKeys } from '../testing/key-account.ts';
import { startTestApi } from '../testing/test-api.ts';

describe('a platform ceiling of rates', () => {
  it('201 with the ceiling for a new key where it is below the default, and with the default above', async () => {
    for (const [rateLimitCeilingRpm, expected] of [
      [1, 1],
      [59, 59],
      [60, 60],
      [61, 60],
    ] as const) {
      await using api = await startTestApi({ rateLimitCeilingRpm });
      const account = await signUpForKeys(api);
      const minted = await mintKey(account);
      assert.equal(minted.rate_limit_rpm, expected);
      const [listed] = (await account.client.call(keys.listKeys)).keys;
      assert.equal(listed?.rate_limit_rpm, expected);
      // Every change sends the rate again.
      const changed = await account.client.call(keys.updateKey, {
        params: { key_id: minted.id },
        body: { rate_limit_rpm: listed.rate_limit_rpm, credit_limit_pkr: 5 },
      });
      assert.deepEqual([changed.rate_limit_rpm, changed.credit_limit_cents], [expected, 5_000_000]);
    }
  });

  it('200 with the ceiling for a key from before it was lowered, which can be changed as it is shown', async () => {
    await using api = await startTestApi({ rateLimitCeilingRpm: 100 });
    const account = await signUpForKeys(api);
    const { id } = await mintKey(account);
    await runSql(api.database)`UPDATE api_keys SET rate_limit_rpm = 5000 WHERE id = ${id}`;
    const [listed] = (await account.client.call(keys.listKeys)).keys;
    assert.equal(listed?.rate_limit_rpm, 100);
    const change = { params: { key_id: id }, body: { rate_limit_rpm: listed.rate_limit_rpm } };
    assert.equal((await account.client.call(keys.updateKey, change)).rate_limit_rpm, 100);
    const refused = await account.client.send(keys.updateKey, { ...change, body: { rate_limit_rpm: 101 } });
    assert.equal(refused.status, 400);
  });
});
