import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { activity } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { recordsFrom } from '../activity/index.ts';
import { type KeyAccount, signUpForKeys } from '../testing/key-account.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';
import { showOrganization } from './show-organization.ts';
import { switchByokFallback } from './switch-byok-fallback.ts';

describe('switchByokFallback', () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api[Symbol.asyncDispose]());

  const set = ({ organizationId }: Pick<KeyAccount, 'organizationId'>, reference: string, isOn: boolean) =>
    api.owner.transaction((tx) =>
      switchByokFallback(tx, { organizationId, reference, isOn }, recordsFrom('192.0.2.1')),
    );
  const statesOf = async ({ organizationId }: KeyAccount) =>
    (await showOrganization(api.owner, organizationId))?.projects.map(({ byokFallback }) => byokFallback);
  const entriesOf = async ({ client }: KeyAccount) =>
    (await client.call(activity.listActivity)).events
      .filter(({ action }) => action.startsWith('project.'))
      .map(({ actor, action, target, source_ip }) => [actor, action, target, source_ip]);

  it('switches one project, by id or by name in any spelling, and records each change', async () => {
    const account = await signUpForKeys(api);
    assert.deepEqual(await statesOf(account), [false]);
    const project = { id: account.projectId, name: 'Default' };
    const on = await set(account, 'ＤＥＦＡＵＬＴ', true);
    assert.ok('project' in on && on.hasChanged);
    assert.deepEqual({ id: on.project.id, name: on.project.name }, project);
    assert.deepEqual(await statesOf(account), [true]);
    const again = await set(account, account.projectId, true);
    assert.ok('project' in again && !again.hasChanged);
    await set(account, account.projectId, false);
    assert.deepEqual(await statesOf(account), [false]);
    assert.deepEqual(await entriesOf(account), [
      [null, 'project.byok_fallback_disabled', 'Default', '192.0.2.1'],
      [null, 'project.byok_fallback_enabled', 'Default', '192.0.2.1'],
    ]);
  });

  it('does not know projects of another organisation, and changes none of several with one name', async () => {
    const [account, other] = [await signUpForKeys(api), await signUpForKeys(api)];
    assert.deepEqual(await set(account, other.projectId, true), { candidates: [] });
    assert.deepEqual(await set(account, 'Nothing', true), { candidates: [] });
    await runSql(api.owner)`
      INSERT INTO projects (organization_id, name) VALUES (${account.organizationId}, 'default')`;
    const result = await set(account, 'Default', true);
    assert.ok('candidates' in result);
    assert.equal(result.candidates.length, 2);
    assert.deepEqual([await statesOf(account), await statesOf(other)], [[false, false], [false]]);
    assert.deepEqual(await entriesOf(account), []);
  });

  it('is not for the login of the service', async () => {
    const { organizationId } = await signUpForKeys(api);
    const attempt = api.database.transaction((tx) =>
      switchByokFallback(tx, { organizationId, reference: 'Default', isOn: true }, recordsFrom('::1')),
    );
    await assert.rejects(attempt, /permission denied/);
  });
});
