import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { activity, auth, organization } from '@gatehouse/contract';
import { waitingForLocks } from '../testing/hold-organization.ts';
import { holdAccount, holdLog } from '../testing/hold-rows.ts';
import { startTestApi, TEST_PASSWORD, type TestApi } from '../testing/test-api.ts';
import { activateAccount } from './activate-account.ts';
import { deactivateAccount } from './deactivate-account.ts';

describe('deactivating an account', () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api[Symbol.asyncDispose]());

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

  it('401 with the session of a sign-in that was under way, also after it was activated', async () => {
    const { email, organizationId } = await api.signUp();
    const late = api.anonymous();
    const log = await holdLog(api.owner, organizationId);
    // It has made its session, and waits to write its entry.
    const attempt = late.send(auth.login, signIn(email));
    await waitingForLocks(api.owner, 1);
    const deactivated = deactivateAccount(api.owner, email);
    await waitingForLocks(api.owner, 2);
    await log.release();
    assert.equal((await attempt).status, 200);
    assert.equal((await deactivated)?.endedSessions, 2);
    await activateAccount(api.owner, email);
    await late.refused(auth.me, 401);
    await late.refused(auth.refresh, 401);
  });

  it('401 for a sign-in that was checked before and comes after', async () => {
    const { email, userId } = await api.signUp();
    const account = await holdAccount(api.owner, userId);
    const deactivated = deactivateAccount(api.owner, email);
    await waitingForLocks(api.owner, 1);
    const attempt = api.anonymous().send(auth.login, signIn(email));
    await waitingForLocks(api.owner, 2);
    await account.release();
    assert.equal((await deactivated)?.hasChanged, true);
    assert.equal((await attempt).status, 401);
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
