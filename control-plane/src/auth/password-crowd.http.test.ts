import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auth } from '@gatehouse/contract';
import { type SignedUp, startTestApi, TEST_PASSWORD, type TestApi } from '../testing/test-api.ts';

const CROWD = 80;
const RIGHT = 12;

describe('a crowd of wrong passwords for many accounts', () => {
  let api: TestApi;
  let accounts: SignedUp[];
  let isOver = false;
  const statuses = new Map<number, number>();
  let crowd: Promise<unknown>;
  before(async () => {
    api = await startTestApi();
    accounts = await Promise.all(Array.from({ length: RIGHT }, () => api.signUp()));
    const { promise: isFull, resolve } = Promise.withResolvers<void>();
    // From the address of all clients of this test. Each sends the next request as soon as it has an answer.
    crowd = Promise.all(
      Array.from({ length: CROWD }, async (_, member) => {
        for (let n = 0; !isOver; n += 1) {
          const body = { email: `${member}.${n}@example.com`, password: 'wrong password' };
          const { status } = await api.anonymous().send(auth.login, { body });
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          if (status === 503) resolve();
        }
      }),
    );
    await isFull;
  });
  after(async () => {
    isOver = true;
    await crowd;
    await api[Symbol.asyncDispose]();
  });

  const signIn = async (email: string, password: string, headers = {}) =>
    (await api.anonymous().send(auth.login, { body: { email, password }, headers })).status;

  it('200 for every account that signed in before from the same address, all at once', async () => {
    const answers = await Promise.all(accounts.map(({ email }) => signIn(email, TEST_PASSWORD)));
    assert.deepEqual(answers, Array(RIGHT).fill(200));
  });

  it('200 for every account from another network, without an earlier sign-in from there', async () => {
    const headers = { 'x-forwarded-for': '198.51.100.7' };
    const answers = await Promise.all(accounts.map(({ email }) => signIn(email, TEST_PASSWORD, headers)));
    assert.deepEqual(answers, Array(RIGHT).fill(200));
  });

  it('401 and 503 for the crowd itself, and nothing else', () => {
    assert.deepEqual([...statuses.keys()].toSorted(), [401, 503]);
  });
});
