import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { activity, auth, organization } from '@gatehouse/contract';
import { recordsFrom } from '../../activity/index.ts';
import type { ApiClient } from '../../testing/api-client.ts';
import { duringTests } from '../../testing/during-tests.ts';
import { waitingForLocks } from '../../testing/hold-organization.ts';
import { holdLog } from '../../testing/hold-rows.ts';
import { startTestApi, TEST_PASSWORD } from '../../testing/test-api.ts';
import { activateAccount } from './activate-account.ts';
import { deactivateAccount } from './deactivate-account.ts';
import { deleteAccount } from './delete-account.ts';
import { listAccounts } from './list-accounts.ts';
import { setRole } from './set-role.ts';

const operator = recordsFrom('127.0.0.1');

describe('deactivating an account', () => {
  const api = duringTests(startTestApi);

  const signIn = (email: string) => ({ body: { email, password: TEST_PASSWORD } });

  it('401 from the next request on, with either token and at sign-in, and an entry of the operator in the log', async () => {
    const owner = await api.signUp();
    const member = await api.signUp({ organization: owner.organizationName });
    const second = api.anonymous();
    await second.call(auth.login, signIn(member.email));
    const before = await owner.client.call(activity.listActivity);
    const { members } = await owner.client.call(organization.listMembers);
    assert.deepEqual(await deactivateAccount(api.owner, `  ${member.email.toUpperCase()}\n`, operator), {
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
      wasLastOwner: false,
      endedSessions: 2,
    });
    for (const client of [member.client, second]) {
      await client.refused(auth.me, 401);
      await client.refused(auth.refresh, 401);
    }
    await api.anonymous().refused(auth.login, 401, signIn(member.email));
    await owner.client.call(auth.me);
    const after = await owner.client.call(activity.listActivity);
    const [newest, ...earlier] = after.events;
    assert.deepEqual(
      [newest?.actor, newest?.action, newest?.target],
      [null, 'member.deactivated', member.email],
    );
    assert.deepEqual(earlier, before.events);
  });

  it('200 again after it was activated, by a new sign-in and not by the old session', async () => {
    const owner = await api.signUp();
    const { client, email } = await api.signUp({ organization: owner.organizationName });
    await deactivateAccount(api.owner, email, operator);
    const again = await deactivateAccount(api.owner, email, operator);
    assert.deepEqual([again?.hasChanged, again?.endedSessions], [false, 0]);
    for (const hasChanged of [true, false]) {
      const done = await activateAccount(api.owner, email.toUpperCase(), operator);
      assert.deepEqual([done?.hasChanged, done?.account.isActive], [hasChanged, true]);
    }
    await client.refused(auth.me, 401);
    await client.refused(auth.refresh, 401);
    await client.call(auth.login, signIn(email));
    await client.call(auth.me);
  });

  it('tells when it was the last active owner, of several at once the last', async () => {
    const owner = await api.signUp();
    const second = await api.signUp({ organization: owner.organizationName });
    await setRole(api.owner, second.email, 'owner', operator);
    const changes = await Promise.all([
      deactivateAccount(api.owner, owner.email, operator),
      setRole(api.owner, second.email, 'admin', operator),
    ]);
    assert.deepEqual(changes.map((change) => change?.wasLastOwner).sort(), [false, true]);
    await owner.client.refused(auth.me, 401);
    // A deactivated owner does not count, and neither does one who was none before.
    assert.equal((await setRole(api.owner, second.email, 'member', operator))?.wasLastOwner, false);
    await setRole(api.owner, second.email, 'owner', operator);
    assert.equal((await deleteAccount(api.owner, owner.email, operator))?.wasLastOwner, false);
    assert.equal((await deleteAccount(api.owner, second.email, operator))?.wasLastOwner, true);
    assert.deepEqual(await listAccounts(api.owner, owner.organizationId), []);
  });

  it('sees what another change leaves, although that is not committed yet', async () => {
    const owner = await api.signUp();
    const second = await api.signUp({ organization: owner.organizationName });
    await setRole(api.owner, second.email, 'owner', operator);
    const log = await holdLog(api.owner, owner.organizationId);
    // It has found the other owner, and waits to write its entry.
    const first = deactivateAccount(api.owner, owner.email, operator);
    await waitingForLocks(api.owner, 1);
    // The pool of the owner has two connections.
    const change = setRole(api.database, second.email, 'member', operator);
    await waitingForLocks(api.owner, 2);
    await log.release();
    assert.equal((await first)?.wasLastOwner, false);
    assert.equal((await change)?.wasLastOwner, true);
  });

  it('gives a role that holds from the next request on, in the sessions that are open', async () => {
    const owner = await api.signUp();
    const member = await api.signUp({ organization: owner.organizationName });
    const rename = (client: ApiClient) =>
      client.send(organization.renameOrganization, { body: { name: randomUUID() } });
    assert.equal((await rename(member.client)).status, 403);
    const done = await setRole(api.owner, member.email.toUpperCase(), 'admin', operator);
    assert.deepEqual([done?.hasChanged, done?.account.role], [true, 'admin']);
    assert.equal((await rename(member.client)).status, 200);
    assert.equal((await setRole(api.owner, member.email, 'admin', operator))?.hasChanged, false);
    const { events } = await owner.client.call(activity.listActivity, {
      query: { action: 'member.role_changed' },
    });
    assert.deepEqual(
      events.map(({ actor, target }) => [actor, target]),
      [[null, `${member.email}: admin`]],
    );
  });

  it('finds nobody where there is nobody', async () => {
    for (const email of ['nobody@example.com', '', '%', '\u212a@example.com', 'a\u0000']) {
      assert.equal(await deactivateAccount(api.owner, email, operator), undefined);
      assert.equal(await activateAccount(api.owner, email, operator), undefined);
    }
  });
});
