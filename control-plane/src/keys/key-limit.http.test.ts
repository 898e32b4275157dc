import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keys } from '@gatehouse/contract';
import { countKeys, eventsOf, mintKey, signUpForKeys } from '../testing/key-account.ts';
import { startTestApi } from '../testing/test-api.ts';

const FULL = {
  error:
    'An organisation can have 5 keys that are not revoked, and this one has as many. Revoke keys that are no longer used, then mint this one.',
};

describe('the number of keys of an organisation', () => {
  it('409 beyond the limit, however many are minted at once; another organisation has its own', async () => {
    await using api = await startTestApi({ keysPerOrganization: 5 });
    const [account, other] = [await signUpForKeys(api), await signUpForKeys(api)];
    const body = { project_id: account.projectId, name: 'k' };
    const replies = await Promise.all(
      Array.from({ length: 40 }, () => account.client.send(keys.createKey, { body })),
    );
    const refused = replies.filter(({ status }) => status !== 201);
    assert.equal(refused.length, 35);
    for (const { status, text } of refused) assert.deepEqual([status, JSON.parse(text)], [409, FULL]);
    assert.equal(await countKeys(api, account), 5);
    assert.equal((await eventsOf(account, 'api_key.created')).length, 5);
    await mintKey(other);
  });

  it('201 again once a key is revoked, and with the Idempotency-Key that was refused', async () => {
    await using api = await startTestApi({ keysPerOrganization: 5 });
    const account = await signUpForKeys(api);
    const minted = [];
    for (let count = 0; count < 5; count += 1) minted.push(await mintKey(account));
    const request = {
      body: { project_id: account.projectId, name: 'sixth' },
      headers: { 'idempotency-key': 'the sixth' },
    };
    const full = await account.client.send(keys.createKey, request);
    assert.deepEqual([full.status, JSON.parse(full.text)], [409, FULL]);
    for (const { id } of minted.slice(0, 2)) {
      await account.client.call(keys.revokeKey, { params: { key_id: id } });
    }
    const sixth = await account.client.send(keys.createKey, request);
    assert.equal(sixth.status, 201);
    await mintKey(account);
    const again = await account.client.send(keys.createKey, { ...request, headers: {} });
    assert.deepEqual([again.status, JSON.parse(again.text)], [409, FULL]);
  });
});
