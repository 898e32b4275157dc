import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { auth, Secret } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { recordsFrom } from '../../activity/index.ts';
import { dumpTables } from '../../testing/dump-tables.ts';
import { duringTests } from '../../testing/during-tests.ts';
import { startTestApi, TEST_PASSWORD } from '../../testing/test-api.ts';
import { deactivateAccount } from './deactivate-account.ts';
import { PasswordError, setPassword } from './set-password.ts';

const NEW_PASSWORD = 'a quite different passphrase';

describe('setting the password of an account', () => {
  const api = duringTests(() => startTestApi({ signInAttempts: 2 }));

  const signIn = (email: string, password: string) => ({ body: { email, password } });

  it('200 with the new one, 401 with the old one and with every session from before', async () => {
    const { client, email, userId } = await api.signUp();
    const done = await setPassword(api.owner, ` ${email.toUpperCase()}`, new Secret(NEW_PASSWORD));
    assert.deepEqual([done?.account.userId, done?.endedSessions], [userId, 1]);
    await client.refused(auth.me, 401);
    await client.refused(auth.refresh, 401);
    await client.refused(auth.login, 401, signIn(email, TEST_PASSWORD));
    await client.call(auth.login, signIn(email, NEW_PASSWORD));
    assert.ok(!(await dumpTables(api.owner)).includes(NEW_PASSWORD));
  });

  it('200 at once for an address that had to wait, and no other address is let off', async () => {
    const { email } = await api.signUp();
    const other = await api.signUp();
    for (const address of [email, other.email]) {
      for (const status of [401, 401, 429])
        await api.anonymous().refused(auth.login, status, signIn(address, 'wrong password'));
    }
    await setPassword(api.owner, email, new Secret(NEW_PASSWORD));
    await api.anonymous().call(auth.login, signIn(email, NEW_PASSWORD));
    await api.anonymous().refused(auth.login, 429, signIn(other.email, TEST_PASSWORD));
  });

  it('200 for an account that had only Google, which stays linked', async () => {
    const { email, userId } = await api.signUp();
    await runSql(api.owner)`
      UPDATE users SET password_hash = NULL, google_subject = ${`subject of ${userId}`} WHERE id = ${userId}`;
    const done = await setPassword(api.owner, email, new Secret(NEW_PASSWORD));
    assert.deepEqual([done?.account.hasPassword, done?.account.isGoogleLinked], [true, true]);
    await api.anonymous().call(auth.login, signIn(email, NEW_PASSWORD));
  });

  it('401 still for a deactivated account', async () => {
    const { organizationName } = await api.signUp();
    const { email } = await api.signUp({ organization: organizationName });
    await deactivateAccount(api.owner, email, recordsFrom('127.0.0.1'));
    assert.equal((await setPassword(api.owner, email, new Secret(NEW_PASSWORD)))?.account.isActive, false);
    await api.anonymous().refused(auth.login, 401, signIn(email, NEW_PASSWORD));
  });

  it('refuses what registration refuses, and changes nothing then', async () => {
    const { client, email } = await api.signUp();
    for (const password of ['', 'short', 'x'.repeat(257), 'password1', 'QWERTY123', 'long enough \u0000'])
      await assert.rejects(setPassword(api.owner, email, new Secret(password)), PasswordError);
    await client.call(auth.me);
    await api.anonymous().call(auth.login, signIn(email, TEST_PASSWORD));
  });

  it('finds nobody where there is nobody', async () => {
    for (const email of ['nobody@example.com', '', '\u212a@example.com'])
      assert.equal(await setPassword(api.owner, email, new Secret(NEW_PASSWORD)), undefined);
  });
});
