import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { activity, auth, organization } from '@gatehouse/contract';
import { duringTests } from '../../testing/during-tests.ts';
import { startTestApi, TEST_PASSWORD } from '../../testing/test-api.ts';
import { activateAccount } from './activate-account.ts';
import { deactivateAccount } from './deactivate-account.ts';

describe('deactivating an account', () => {
  const api = duringTests(startTestApi);

  const signIn = (email: string) => ({ body: { email, password: TEST_PASSWORD } });

  it('401 from the next request on, with either token and at sign-in, and no entry in the log', async () => {
    const owner = await api.signUp();
    const member = await api.signUp({ organization: owner.organizationName });
    const second = api.anonymous();
    await second.call(auth.login, signIn(member.email));
    const before = await owner.client.call(activity.listActivity);
    const { members } = await owner.client.call(organization.listMembers);
    assert.deepEqual(await deactivateAccount(api.owner, `  ${member.email.toUpperCase()}\n`), {
      account: {
        userId: member.userId,
        email: member.email,
        role: 'member',
        isActive: false,
        hasPassword: true,
        isGoogleLinked: false,
        isOidcLinked: false,
        joinedAt: members[1]?.joined_at,
        organization: { id: owner.organizationId, name: owner.organizationName },
      },
      hasChanged: true,
      endedSessions: 2,
      ownersLeft: 1,
      renamersLeft: 1,
    });
    for (const client of [member.client, second]) {
      await client.refused(auth.me, 401);
      await client.refused(auth.refresh, 401);
    }
    await api.anonymous().refused(auth.login, 401, signIn(member.email));
    await owner.client.call(auth.me);
    assert.deepEqual(await owner.client.call(activity.listActivity), before);
  });

  it('200 again after it was activated, by a new sign-in and not by the old session', async () => {
    const { client, email } = await api.signUp();
    await deactivateAccount(api.owner, email);
    const again = await deactivateAccount(api.owner, email);
    assert.deepEqual([again?.hasChanged, again?.endedSessions], [false, 0]);
    for (const hasChanged of [true, false]) {
      const done = await activateAccount(api.owner, email.toUpperCase());
      assert.deepEqual([done?.hasChanged, done?.account.isActive], [hasChanged, true]);
    }
    await client.refused(auth.me, 401);
    await client.refused(auth.refresh, 401);
    await client.call(auth.login, signIn(email));
    await client.call(auth.me);
  });

  it('tells who is left to lead the organisation', async () => {
    const owner = await api.signUp();
    const member = await api.signUp({ organization: owner.organizationName });
    const first = await deactivateAccount(api.owner, member.email);
    assert.deepEqual([first?.ownersLeft, first?.renamersLeft], [1, 1]);
    const second = await deactivateAccount(api.owner, owner.email);
    assert.deepEqual([second?.ownersLeft, second?.renamersLeft], [1, 0]);
  });

  it('finds nobody where there is nobody', async () => {
    for (const email of ['nobody@example.com', '', '%', '\u212a@example.com', 'a\u0000']) {
      assert.equal(await deactivateAccount(api.owner, email), undefined);
      assert.equal(await activateAccount(api.owner, email), undefined);
    }
  });
});
