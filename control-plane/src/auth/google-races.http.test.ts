import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { auth } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { duringTests } from '../testing/during-tests.ts';
import { newcomer, startGoogleApi } from '../testing/google-api.ts';
import { TEST_PASSWORD } from '../testing/test-api.ts';

const AT_ONCE = 20;

describe('POST /auth/google by many at once', () => {
  const google = duringTests(startGoogleApi);

  const tokenOf = async (account: ReturnType<typeof newcomer>, nonce?: string) =>
    (await google.provider.issue(account, nonce === undefined ? {} : { nonce })).idToken;
  const statusesOf = (replies: readonly { readonly status: number }[]) =>
    Object.fromEntries(
      Map.groupBy(replies, ({ status }) => status)
        .entries()
        .map(([status, { length }]) => [status, length]),
    );
  /** The stored rows of the organisations with this name. */
  const stored = (name: string) =>
    runSql(google.api.database)`
      SELECT count(*) AS organizations,
             (SELECT count(*) FROM users WHERE organization_id = ANY(array_agg(o.id))) AS users,
             (SELECT count(*) FROM users WHERE organization_id = ANY(array_agg(o.id)) AND role = 'owner') AS owners,
             (SELECT count(*) FROM projects WHERE organization_id = ANY(array_agg(o.id))) AS projects,
             (SELECT count(*) FROM deposits WHERE organization_id = ANY(array_agg(o.id))) AS deposits,
             (SELECT count(*) FROM activity_events WHERE organization_id = ANY(array_agg(o.id))
                AND action = 'member.joined') AS joined,
             (SELECT count(*) FROM activity_events WHERE organization_id = ANY(array_agg(o.id))
                AND action = 'user.login') AS logins
      FROM organizations o WHERE o.name = ${name}`;

  it('200 for each first sign-in of one account: one account, one organisation', async () => {
    const account = newcomer();
    const tokens = await Promise.all(Array.from({ length: AT_ONCE }, () => tokenOf(account)));
    const replies = await Promise.all(tokens.map((token) => google.send(token, { organization: 'Once' })));
    assert.deepEqual(statusesOf(replies), { 200: AT_ONCE });
    assert.equal(new Set(replies.map(({ text }) => text)).size, 1);
    assert.deepEqual(await stored('Once'), [
      { organizations: 1n, users: 1n, owners: 1n, projects: 1n, deposits: 1n, joined: 1n, logins: 20n },
    ]);
  });

  it('200 for each first sign-in of one account where nobody may join what it has just created', async () => {
    await using closed = await startGoogleApi({ joinPolicy: 'closed' });
    const { idToken } = await closed.provider.issue(newcomer());
    const replies = await Promise.all(
      Array.from({ length: AT_ONCE }, () => closed.send(idToken, { organization: 'Mine' })),
    );
    assert.deepEqual(statusesOf(replies), { 200: AT_ONCE });
  });

  it('200 for each of several new accounts that name one new organisation', async () => {
    const tokens = await Promise.all(Array.from({ length: AT_ONCE }, () => tokenOf(newcomer())));
    const replies = await Promise.all(tokens.map((token) => google.send(token, { organization: 'Crowd' })));
    assert.deepEqual(statusesOf(replies), { 200: AT_ONCE });
    assert.deepEqual(await stored('Crowd'), [
      { organizations: 1n, users: 20n, owners: 1n, projects: 1n, deposits: 1n, joined: 20n, logins: 20n },
    ]);
  });

  it('200 for one and 409 for the rest of several subjects with one address', async () => {
    const email = 'one@gmail.com';
    const tokens = await Promise.all(Array.from({ length: AT_ONCE }, () => tokenOf(newcomer({ email }))));
    const replies = await Promise.all(tokens.map((token) => google.send(token, { organization: 'Single' })));
    assert.deepEqual(statusesOf(replies), { 200: 1, 409: AT_ONCE - 1 });
    assert.deepEqual(await stored('Single'), [
      { organizations: 1n, users: 1n, owners: 1n, projects: 1n, deposits: 1n, joined: 1n, logins: 1n },
    ]);
  });

  it('200 for one and 401 for the rest with one token that has a nonce', async () => {
    const known = newcomer();
    await google.send(await tokenOf(known), { organization: 'Known' });
    for (const someone of [newcomer(), known]) {
      const token = await tokenOf(someone, 'once');
      const replies = await Promise.all(
        Array.from({ length: AT_ONCE }, () => google.send(token, { organization: 'Nonce', nonce: 'once' })),
      );
      assert.deepEqual(statusesOf(replies), { 200: 1, 401: AT_ONCE - 1 });
    }
  });

  it('leaves an account that Google opens, or one that it does not, when its address registers at the same time', async () => {
    for (let round = 0; round < 10; round += 1) {
      const someone = newcomer({ email: `race${round}@gmail.com` });
      const token = await tokenOf(someone);
      const body = { email: someone.email, password: TEST_PASSWORD, organization_name: `Race ${round}` };
      const [byPassword, ...byGoogle] = await Promise.all([
        google.api.anonymous().send(auth.register, { body }),
        ...Array.from({ length: 3 }, () => google.send(token, { organization: `Race ${round}` })),
      ]);
      assert.ok(byPassword && [201, 409].includes(byPassword.status), byPassword?.text);
      for (const { status, text } of byGoogle) assert.ok(status === 200 || status === 409, text);
      const [left, ...more] = await runSql(google.api.database)`
        SELECT google_subject, password_hash IS NULL AS is_passwordless FROM users WHERE email = ${someone.email}`;
      assert.equal(more.length, 0);
      const isOpen = byGoogle.some(({ status }) => status === 200);
      assert.deepEqual(left, { googleSubject: isOpen ? someone.sub : null, isPasswordless: isOpen });
      assert.equal((await google.send(token)).status, 200);
      const [counted] = await stored(`Race ${round}`);
      assert.deepEqual([counted?.['organizations'], counted?.['users'], counted?.['joined']], [1n, 1n, 1n]);
    }
  });
});
