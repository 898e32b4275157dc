import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { auth, Secret } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { recordsFrom } from '../../activity/index.ts';
import { duringTests } from '../../testing/during-tests.ts';
import { waitingForLocks } from '../../testing/hold-organization.ts';
import { holdAccount, holdLog } from '../../testing/hold-rows.ts';
import { startTestApi, TEST_PASSWORD } from '../../testing/test-api.ts';
import { activateAccount } from './activate-account.ts';
import { deactivateAccount } from './deactivate-account.ts';
import { deleteAccount } from './delete-account.ts';
import { setPassword } from './set-password.ts';

const operator = recordsFrom('127.0.0.1');
const NEW_PASSWORD = 'a quite different passphrase';

describe('a change to an account while it signs in', () => {
  const api = duringTests(startTestApi);

  /** An account of which the organisation does not depend. */
  const signUpMember = async () => {
    const { organizationName } = await api.signUp();
    return api.signUp({ organization: organizationName });
  };
  const signIn = (email: string, password = TEST_PASSWORD) => ({ body: { email, password } });

  for (const [title, change, then] of [
    [
      'deactivated, and also after it is active again',
      (email: string) => deactivateAccount(api.owner, email, operator),
      (email: string) => activateAccount(api.owner, email, operator),
    ],
    [
      'deleted',
      (email: string) => deleteAccount(api.owner, email, operator),
      async (_email: string, userId: string) =>
        assert.deepEqual(await runSql(api.owner)`SELECT FROM sessions WHERE user_id = ${userId}`, []),
    ],
    [
      'given a new password, which works',
      (email: string) => setPassword(api.owner, email, new Secret(NEW_PASSWORD)),
      (email: string) => api.anonymous().call(auth.login, signIn(email, NEW_PASSWORD)),
    ],
  ] as const) {
    it(`401 with the session of a sign-in under way when it is ${title}`, async () => {
      const { email, userId, organizationId } = await signUpMember();
      const late = api.anonymous();
      const log = await holdLog(api.owner, organizationId);
      // It has made its session, and waits to write its entry.
      const attempt = late.send(auth.login, signIn(email));
      await waitingForLocks(api.owner, 1);
      const changed = change(email);
      await waitingForLocks(api.owner, 2);
      await log.release();
      assert.equal((await attempt).status, 200);
      assert.equal((await changed)?.endedSessions, 2);
      await then(email, userId);
      await late.refused(auth.me, 401);
      await late.refused(auth.refresh, 401);
    });

    it(`401 for a sign-in that was checked before and finishes after it is ${title}`, async () => {
      const { email, userId } = await signUpMember();
      const account = await holdAccount(api.owner, userId);
      const changed = change(email);
      await waitingForLocks(api.owner, 1);
      const attempt = api.anonymous().send(auth.login, signIn(email));
      await waitingForLocks(api.owner, 2);
      await account.release();
      assert.ok(await changed);
      assert.equal((await attempt).status, 401);
      await then(email, userId);
    });
  }
});
