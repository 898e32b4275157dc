import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { activity, type KeyId, keys, organization } from '@gatehouse/contract';
import { recordsFrom } from '../../activity/index.ts';
import { startTestApi, type TestApi } from '../../testing/test-api.ts';
import { listRevokedKeys, revokeKeysAgain } from './revoked-keys.ts';

describe('revoking keys again after a restore', () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api[Symbol.asyncDispose]());

  it('revokes those that are not, each with an entry without an actor, and no others', async () => {
    const { client } = await api.signUp();
    const project = (await client.call(organization.listProjects)).projects[0]?.id;
    const mint = (name: string) => client.call(keys.createKey, { body: { project_id: project, name } });
    const [gone, again, stays] = [await mint('gone'), await mint('again'), await mint('stays')];
    await client.call(keys.revokeKey, { params: { key_id: gone.id } });
    assert.deepEqual(
      (await listRevokedKeys(api.database)).map(({ id }) => id),
      [gone.id],
    );

    const wanted = [gone.id, again.id, randomUUID()] as KeyId[];
    assert.deepEqual(await revokeKeysAgain(api.owner, wanted, recordsFrom('127.0.0.1')), [again.key_prefix]);
    assert.deepEqual(await revokeKeysAgain(api.owner, wanted, recordsFrom('127.0.0.1')), []);
    const listed = await client.call(keys.listKeys);
    assert.deepEqual(
      listed.keys.map(({ id }) => id),
      [stays.id],
    );
    const [entry] = (await client.call(activity.listActivity)).events;
    assert.deepEqual(
      [entry?.action, entry?.target, entry?.actor, entry?.source_ip],
      ['api_key.revoked', again.key_prefix, null, '127.0.0.1'],
    );
  });
});
