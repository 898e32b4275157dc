import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auth, Secret } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { createPasswords } from '../auth/index.ts';
import { startTestApi, TEST_PASSWORD, type TestApi } from './test-api.ts';

describe('the password of an account that a test signs up', () => {
  let api: TestApi;

  before(async () => {
    api = await startTestApi();
  });
  after(() => api[Symbol.asyncDispose]());

  it('200 for it alone, by its hash, which the service would make alike', async () => {
    const { email } = await api.signUp();
    const [account] = await runSql<{ passwordHash: string }>(api.owner)`
      SELECT password_hash FROM users WHERE email = ${email}`;
    const stored = account?.passwordHash ?? assert.fail('there is no account');
    const passwords = createPasswords();
    assert.equal(await passwords.matches(new Secret(TEST_PASSWORD), stored), true);
    const parameters = (hash: string) => hash.split('$').slice(0, -2);
    assert.deepEqual(parameters(stored), parameters(await passwords.hash(new Secret('another password'))));

    const signIn = (password: string) => api.anonymous().send(auth.login, { body: { email, password } });
    assert.equal((await signIn(TEST_PASSWORD)).status, 200);
    assert.equal((await signIn(`${TEST_PASSWORD}!`)).status, 401);
  });
});
