import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { activity, auth, keys, organization, spendLimits } from '@gatehouse/contract';
import { recordsFrom, verifyActivity } from '../../activity/index.ts';
import { duringTests } from '../../testing/during-tests.ts';
import { mintKey, signUpForKeys } from '../../testing/key-account.ts';
import { startTestApi, TEST_PASSWORD } from '../../testing/test-api.ts';
import { deleteAccount } from './delete-account.ts';
import { listAccounts } from './list-accounts.ts';
import { setRole } from './set-role.ts';

const operator = recordsFrom('127.0.0.1');

describe('deleting an account', () => {
  const api = duringTests(startTestApi);

  const signIn = (email: string) => ({ body: { email, password: TEST_PASSWORD } });

  it('401 from the next request on, and its entries stay without a name in a log that verifies', async () => {
    const owner = await api.signUp();
    const member = await api.signUp({ organization: owner.organizationName });
    const done = await deleteAccount(api.owner, member.email.toUpperCase(), operator);
    assert.deepEqual([done?.account.userId, done?.endedSessions], [member.userId, 1]);
    await member.client.refused(auth.me, 401);
    await member.client.refused(auth.refresh, 401);
    await member.client.call(auth.logout);
    await api.anonymous().refused(auth.login, 401, signIn(member.email));
    const { members } = await owner.client.call(organization.listMembers);
    assert.deepEqual(
      members.map(({ email }) => email),
      [owner.email],
    );
    const { events } = await owner.client.call(activity.listActivity);
    assert.deepEqual(
      events.slice(0, 3).map(({ actor, action, target }) => [actor, action, target]),
      [
        [null, 'member.removed', member.email],
        [null, 'user.login', member.email],
        [null, 'member.joined', member.email],
      ],
    );
    const verified = await Array.fromAsync(
      verifyActivity(api.owner, { organizationId: owner.organizationId }),
    );
    assert.deepEqual(
      verified.map(({ entries, broken }) => [entries, broken]),
      [[events.length, null]],
    );
    assert.equal(await deleteAccount(api.owner, member.email, operator), undefined);
  });

  it('leaves the keys that the account minted and the limits that it made, as nobody’s', async () => {
    const account = await signUpForKeys(api);
    const colleague = await api.signUp({ organization: account.organizationName });
    await setRole(api.owner, colleague.email, 'owner', operator);
    const { id } = await mintKey(account);
    const params = { key_id: id };
    const limit = { scope: { kind: 'member', id: account.userId }, window: 'day', limit_pkr: 1 };
    const { id: limitId } = await account.client.call(spendLimits.createSpendLimit, { body: limit });
    assert.ok(await deleteAccount(api.owner, account.email, operator));
    assert.equal((await colleague.client.call(keys.getKey, { params })).created_by, null);
    const { limits } = await colleague.client.call(spendLimits.listSpendLimits);
    assert.deepEqual(
      limits.map(({ id: one, scope, created_by }) => [one, scope, created_by]),
      [[limitId, limit.scope, null]],
    );
  });

  it('201 for the address when it registers again, as a new account', async () => {
    const owner = await api.signUp();
    const successor = await api.signUp({ organization: owner.organizationName });
    await setRole(api.owner, successor.email, 'owner', operator);
    assert.ok(await deleteAccount(api.owner, owner.email, operator));
    const again = await api.signUp({ email: owner.email, organization: owner.organizationName });
    assert.notEqual(again.userId, owner.userId);
    const [, account, ...others] = await listAccounts(api.owner, owner.organizationId);
    assert.deepEqual([account?.email, account?.role, others.length], [owner.email, 'member', 0]);
    const { events } = await again.client.call(activity.listActivity);
    assert.equal(events.at(-1)?.actor, null);
  });

  it('200 or 401 and nothing else while the account signs in, refreshes and signs out all the time', async () => {
    const { organizationName } = await api.signUp();
    for (let round = 0; round < 5; round += 1) {
      const { client, email } = await api.signUp({ organization: organizationName });
      const copies = Array.from({ length: 4 }, () => client.copy());
      const replies = [
        ...copies.map((copy) => copy.send(auth.refresh)),
        ...copies.map((copy) => copy.send(auth.me)),
        client.copy().send(auth.logout),
        api.anonymous().send(auth.login, signIn(email)),
      ];
      const [deleted, ...answers] = await Promise.all([
        deleteAccount(api.owner, email, operator),
        ...replies,
      ]);
      assert.ok(deleted);
      for (const { status } of answers) assert.ok(status === 200 || status === 401, String(status));
      for (const copy of copies) await copy.refused(auth.me, 401);
    }
  });
});
