import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { ApiError, Secret } from '@gatehouse/contract';
import type { Database, Queryable } from '@gatehouse/store';
import { runSql } from '@gatehouse/store/testing';
import { pino } from 'pino';
import { duringTests } from '../testing/during-tests.ts';
import { startTestApi, TEST_PASSWORD, TEST_SETTINGS } from '../testing/test-api.ts';
import { login } from './login.ts';
import { createPasswords, type Passwords } from './passwords.ts';

// How long an answer takes tells as much as what it says. So what is done must not depend on whether there is an
// account: the same statements, and one password hashed.

describe('a sign-in that fails', () => {
  const api = duringTests(startTestApi);

  /** The steps that answer this sign-in, in order. */
  const workFor = async (email: string, password: string) => {
    const work: string[] = [];
    const { handle } = login({
      databaseFor: () => watched(api.database, work),
      passwords: counted(createPasswords(), work),
      settings: TEST_SETTINGS,
      log: pino({ level: 'silent' }),
    });
    const call = {
      requestId: 'r',
      sourceIp: '192.0.2.1',
      network: undefined,
      params: {},
      query: {},
      body: { email, password: new Secret(password) },
      cookies: { accessToken: undefined, refreshToken: undefined },
      header: () => undefined,
      gone: new AbortController().signal,
      recorderFor: () => assert.fail('a refused sign-in records nothing'),
    };
    await assert.rejects(
      Promise.resolve(handle(call, undefined)),
      (error) => error instanceof ApiError && error.status === 401,
    );
    return work;
  };

  it('takes the same steps without an account, without a password, and with a wrong one', async () => {
    const someone = await api.signUp();
    const passwordless = await api.signUp();
    await runSql(api.database)`UPDATE users SET password_hash = NULL WHERE id = ${passwordless.userId}`;
    const deactivated = await api.signUp();
    await runSql(api.database)`UPDATE users SET is_active = false WHERE id = ${deactivated.userId}`;

    const expected = await workFor(someone.email, 'wrong password');
    assert.equal(expected.filter((step) => step === 'a password is checked').length, 1);
    assert.ok(expected.length > 3);
    assert.deepEqual(await workFor('nobody@example.com', 'wrong password'), expected);
    assert.deepEqual(await workFor(passwordless.email, TEST_PASSWORD), expected);
    assert.deepEqual(await workFor(deactivated.email, 'wrong password'), expected);
    // A password of several Unicode forms is hashed in each of them, wherever it is wrong.
    assert.deepEqual(await workFor(someone.email, 'wr\u00f6ng password'), expected);
    // With the right password there is one more statement, which only a caller who knows the password could notice.
    const steps = await workFor(deactivated.email, TEST_PASSWORD);
    assert.deepEqual(
      steps.filter((step) => step !== 'auth-lock-active-user'),
      expected,
    );
  });
});

function counted(passwords: Passwords, work: string[]): Passwords {
  return {
    ...passwords,
    matches(password, hash) {
      work.push('a password is checked');
      return passwords.matches(password, hash);
    },
  };
}

function watched(database: Database, work: string[]): Database {
  const watch = <Q extends Queryable>(inner: Q): Q => {
    const noted =
      <Call extends [{ readonly name: string }, ...unknown[]], Result>(run: (...call: Call) => Result) =>
      (...call: Call) => {
        work.push(call[0].name);
        return run(...call);
      };
    return { ...inner, many: noted(inner.many), one: noted(inner.one), run: noted(inner.run) };
  };
  return { ...watch(database), transaction: (change) => database.transaction((tx) => change(watch(tx))) };
}
