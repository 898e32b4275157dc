import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keys } from '@gatehouse/contract';
import { signUpForKeys } from '../testing/key-account.ts';
import { startTestApi } from '../testing/test-api.ts';
import { findNames, openNames } from './names.ts';

describe('openNames', () => {
  it('finds the names of each batch, and looks up no id twice', async () => {
    await using api = await startTestApi();
    const account = await signUpForKeys(api);
    const { organizationId, projectId, client } = account;
    const mint = (name: string) => client.call(keys.createKey, { body: { project_id: projectId, name } });
    const [first, second, revoked] = [await mint('first'), await mint('second'), await mint('revoked')];
    const revoke = (key: { id: string }) => client.call(keys.revokeKey, { params: { key_id: key.id } });
    await revoke(revoked);
    const row = (key: { id: string } | null, project: string | null) => ({
      key_id: key?.id ?? null,
      project_id: project,
    });

    const find = openNames(api.database, organizationId);
    const names = await find([
      row(first, projectId),
      row(revoked, null),
      row(first, projectId),
      row(null, null),
    ]);
    assert.deepEqual([...names.keys], [[first.id, 'first']]);
    assert.deepEqual([...names.projects], [[projectId, 'Default']]);
    await revoke(first);
    const more = await find([row(first, projectId), row(second, projectId), row(revoked, null)]);
    assert.deepEqual([...more.keys.values()], ['first', 'second']);
    const now = await findNames(api.database, organizationId, [row(first, projectId), row(second, null)]);
    assert.deepEqual([...now.keys.values()], ['second']);
  });

  it("finds nothing of another organisation's", async () => {
    await using api = await startTestApi();
    const [account, stranger] = [await signUpForKeys(api), await signUpForKeys(api)];
    const key = await stranger.client.call(keys.createKey, {
      body: { project_id: stranger.projectId, name: 'k' },
    });
    const names = await findNames(api.database, account.organizationId, [
      { key_id: key.id, project_id: stranger.projectId },
    ]);
    assert.deepEqual([names.keys.size, names.projects.size], [0, 0]);
  });
});
