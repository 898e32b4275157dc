import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { activity, auth } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { dumpTables } from '../testing/dump-tables.ts';
import { duringTests } from '../testing/during-tests.ts';
import { errorOf, newcomer, startGoogleApi } from '../testing/google-api.ts';
import { startTestApi, TEST_PASSWORD } from '../testing/test-api.ts';
import { insertUsedCredential } from './queries.ts';
import { sweepExpired } from './sweep.ts';

const UNKNOWN = 'This Google account is new here: organization_name must name its organisation.';

describe('POST /auth/google', () => {
  const google = duringTests(startGoogleApi);

  const tokenOf = async (account: ReturnType<typeof newcomer>, nonce?: string) =>
    (await google.provider.issue(account, nonce === undefined ? {} : { nonce })).idToken;
  const entriesOf = async (client: ReturnType<typeof google.api.anonymous>) =>
    (await client.call(activity.listActivity)).events.map(({ actor, action, target }) => [
      actor,
      action,
      target,
    ]);

  it('200 for a new account that names a new organisation, with the session that opens the API', async () => {
    const account = newcomer({ email: 'Ada.Google@Example.com' });
    const client = google.api.anonymous();
    const reply = await google.send(await tokenOf(account), { organization: ' Ada’s  ', from: client });
    assert.equal(reply.status, 200, reply.text);
    const body = JSON.parse(reply.text);
    assert.deepEqual(body, {
      user: {
        user_id: body.user.user_id,
        email: 'ada.google@example.com',
        role: 'owner',
        joined_at: body.user.joined_at,
      },
      organization: { id: body.organization.id, name: 'Ada’s' },
    });
    const cookies = [reply.headers['set-cookie']].flat();
    assert.equal(cookies.length, 2);
    assert.match(
      String(cookies[0]),
      /^svc_access_token=[\w-]{43}; Path=\/; Max-Age=900; HttpOnly; Secure; SameSite=Lax$/,
    );
    assert.match(
      String(cookies[1]),
      /^svc_refresh_token=[\w-]{43}; Path=\/api\/auth; Max-Age=604800; HttpOnly; Secure; SameSite=Lax$/,
    );
    assert.deepEqual(await client.call(auth.me), body);
    assert.deepEqual(await client.call(auth.refresh), body);
    const email = 'ada.google@example.com';
    assert.deepEqual(await entriesOf(client), [
      [email, 'user.login', email],
      [null, 'budget.deposited', '1000.00 PKR'],
      [email, 'member.joined', email],
    ]);
    const stored = await runSql(google.api.database)`
      SELECT password_hash, google_subject, (SELECT count(*) FROM projects p WHERE p.organization_id = u.organization_id) AS projects
      FROM users u WHERE id = ${body.user.user_id}`;
    assert.deepEqual(stored, [{ passwordHash: null, googleSubject: account.sub, projects: 1n }]);
  });

  it('200 for a new account that joins an organisation as a member, and gives it no credit', async () => {
    const owner = await google.api.signUp();
    const account = newcomer();
    const client = google.api.anonymous();
    const reply = await google.send(await tokenOf(account), {
      organization: owner.organizationName.toUpperCase(),
      from: client,
    });
    const { user, organization } = JSON.parse(reply.text);
    assert.deepEqual([user.role, organization.id], ['member', owner.organizationId]);
    assert.deepEqual((await entriesOf(client)).slice(0, 2), [
      [account.email, 'user.login', account.email],
      [account.email, 'member.joined', account.email],
    ]);
    assert.equal((await entriesOf(client)).filter(([, action]) => action === 'budget.deposited').length, 1);
  });

  it('200 for an account that is known by its subject, whatever its address is by now, which stays as it was', async () => {
    const account = newcomer();
    const first = await google.send(await tokenOf(account), { organization: 'Subject' });
    for (const email of [
      'moved@example.com',
      'not an address',
      'ünïcode@example.com',
      `${'x'.repeat(300)}@a`,
    ]) {
      const client = google.api.anonymous();
      // What it would be called if it were new is not looked at.
      const reply = await google.send(await tokenOf({ ...account, email }), {
        organization: '<',
        from: client,
      });
      assert.deepEqual(JSON.parse(reply.text), JSON.parse(first.text));
      assert.deepEqual((await entriesOf(client))[0], [account.email, 'user.login', account.email]);
    }
  });

  it('200, and the session of the cookies ends, whichever account it was of', async () => {
    const planted = await google.api.signUp();
    const old = planted.client.copy();
    const account = newcomer();
    assert.equal(
      (await google.send(await tokenOf(account), { organization: 'Fixation', from: planted.client })).status,
      200,
    );
    await old.refused(auth.me, 401);
    await old.refused(auth.refresh, 401);
    assert.equal((await planted.client.call(auth.me)).user.email, account.email);
  });

  it('200 for the same token again, as long as it has no nonce', async () => {
    const account = newcomer();
    const token = await tokenOf(account);
    for (const _ of [1, 2, 3])
      assert.equal((await google.send(token, { organization: 'Again' })).status, 200);
  });

  it('200 once for a token with a nonce, and 401 for it from then on, however its signature is spelled', async () => {
    const account = newcomer();
    const token = await tokenOf(account, 'n-1');
    assert.equal((await google.send(token, { organization: 'Nonce', nonce: 'n-1' })).status, 200);
    // The signature is 256 bytes long, so that of its last character two bits count.
    const last = token.at(-1) ?? '';
    const respelled = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_']
      .filter((character) => character !== last)
      .map((character) => token.slice(0, -1) + character);
    for (const again of [token, `${token}=`, `${token}==`, ` ${token}`, `${token}\n`, ...respelled])
      errorOf(await google.send(again, { nonce: 'n-1' }), 401);
    errorOf(await google.send(token), 401);
    // Another token of the same account is another one, its nonce the same or not.
    for (const nonce of ['n-2', 'n-1x'])
      assert.equal((await google.send(await tokenOf(account, nonce), { nonce })).status, 200);
  });

  it('200 again and again for a token whose nonce no page has named', async () => {
    const token = await tokenOf(newcomer(), 'unnamed');
    for (const _ of [1, 2]) assert.equal((await google.send(token, { organization: 'Unnamed' })).status, 200);
  });

  it('401 where the nonce that the page names is not in the token', async () => {
    const account = newcomer();
    await google.send(await tokenOf(account), { organization: 'Nonces' });
    errorOf(await google.send(await tokenOf(account), { nonce: 'n' }), 401);
    errorOf(await google.send(await tokenOf(account), { nonce: '' }), 401);
    errorOf(await google.send(await tokenOf(account, 'n'), { nonce: 'm' }), 401);
  });

  it('400, 403 and 409 do not use up a token with a nonce', async () => {
    const nonce = 'kept';
    const stranger = newcomer({ email: 'kept@example.com' });
    const token = await tokenOf(stranger, nonce);
    errorOf(await google.send(token, { nonce }), 400);
    errorOf(await google.send(token, { nonce, organization: ' ' }), 400);
    const rival = await google.api.signUp({ email: 'kept@example.com' });
    errorOf(await google.send(token, { nonce, organization: 'Kept' }), 409);
    await runSql(google.api.owner)`DELETE FROM users WHERE id = ${rival.userId}`;
    assert.equal((await google.send(token, { nonce, organization: 'Kept' })).status, 200);
    errorOf(await google.send(token, { nonce, organization: 'Kept' }), 401);
  });

  it('remembers used tokens until they have expired, and no longer', async () => {
    const account = newcomer();
    const tokens = [await tokenOf(account, 'a'), await tokenOf(account, 'b')] as const;
    await google.send(tokens[0], { organization: 'Swept', nonce: 'a' });
    await runSql(google.api.database)`
      UPDATE used_google_credentials SET expires_at = now() - interval '1 second'`;
    await google.send(tokens[1], { nonce: 'b' });
    await sweepExpired(google.api.database, 900);
    const [left] = await runSql<{ used: bigint; minutes: number }>(google.api.database)`
      SELECT count(*) AS used, max(extract(epoch FROM expires_at - now()) / 60)::integer AS minutes
      FROM used_google_credentials`;
    assert.deepEqual(left, { used: 1n, minutes: 61 });
    errorOf(await google.send(tokens[1], { nonce: 'b' }), 401);
    // One that has expired by the database's clock counts as used, whatever the clock of the node says.
    const past = { credentialHash: Buffer.from('past'), expiresAtSeconds: Date.now() / 1000 - 5 };
    assert.equal(await google.api.database.run(insertUsedCredential, past), 0);
  });

  it('400 for a new account that names no organisation, or none that can be', async () => {
    const token = await tokenOf(newcomer());
    const before = await dumpTables(google.api.database);
    assert.equal(errorOf(await google.send(token), 400), UNKNOWN);
    for (const [organization, about] of [
      ['', /blank/],
      ['a<b', /< or >/],
    ] as const)
      assert.match(errorOf(await google.send(token, { organization }), 400), about);
    assert.equal(await dumpTables(google.api.database), before);
  });

  it('400 for a new account whose address could not register', async () => {
    const before = await dumpTables(google.api.database);
    for (const [email, about] of [
      ['not an address', /must be an e-mail address/i],
      ['\u212aelvin@example.com', /ASCII/],
      [`${'x'.repeat(250)}@example.com`, /254/],
    ] as const) {
      const token = await tokenOf(newcomer({ email }));
      assert.match(errorOf(await google.send(token, { organization: 'Address' }), 400), about);
    }
    assert.equal(await dumpTables(google.api.database), before);
  });

  it('401 for an account that is deactivated, and 200 once it is active again', async () => {
    const account = newcomer();
    await google.send(await tokenOf(account), { organization: 'Deactivated' });
    const activate = (isActive: boolean) =>
      runSql(google.api.database)`
        UPDATE users SET is_active = ${isActive} WHERE google_subject = ${account.sub}`;
    await activate(false);
    const before = await dumpTables(google.api.database);
    const nonce = 'later';
    const token = await tokenOf(account, nonce);
    assert.equal(errorOf(await google.send(token, { nonce }), 401), 'Invalid Google credential.');
    assert.equal(await dumpTables(google.api.database), before);
    await activate(true);
    assert.equal((await google.send(token, { nonce })).status, 200);
  });

  it('401 for its password, with the same words as any other, since it has none; 409 for registering its address', async () => {
    const account = newcomer();
    await google.send(await tokenOf(account), { organization: 'Passwordless' });
    const { email } = account;
    for (const password of [TEST_PASSWORD, ''])
      assert.deepEqual(await google.api.anonymous().refused(auth.login, 401, { body: { email, password } }), {
        error: 'Invalid email or password.',
      });
    const body = { email, password: TEST_PASSWORD, organization_name: 'Mine now' };
    await google.api.anonymous().refused(auth.register, 409, { body });
  });

  it('503 while it is not set up, whatever the token', async () => {
    await using api = await startTestApi();
    const token = await tokenOf(newcomer());
    for (const credential of [token, 'x', '']) {
      const reply = await api.anonymous().send(auth.google, { body: { credential } });
      assert.equal(errorOf(reply, 503), 'Signing in with Google is not set up on this service.');
    }
  });
});

describe('POST /auth/google by the join policy', () => {
  for (const [policy, own, other] of [
    ['open', 200, 200],
    ['same-domain', 200, 403],
    ['closed', 403, 403],
  ] as const) {
    it(`${own} from the owner's domain and ${other} from another when it is ${policy}`, async () => {
      await using google = await startGoogleApi({ joinPolicy: policy });
      const join = async (email: string, organization: string) =>
        google.send((await google.provider.issue(newcomer({ email }))).idToken, { organization });
      // The join policy does not apply to a new organisation.
      assert.equal((await join('owner@acme.example', 'Acme')).status, 200);
      assert.equal((await join('one@acme.example', 'Other')).status, 200);
      const before = await dumpTables(google.api.database);
      const colleague = await join('two@acme.example', 'ACME');
      if (own === 403) {
        assert.match(errorOf(colleague, 403), /no new members/);
        assert.equal(await dumpTables(google.api.database), before);
      } else assert.equal(colleague.status, 200);
      assert.equal((await join('two@elsewhere.example', 'acme')).status, other);
      // The join policy does not apply to a member, whichever organisation the request names.
      assert.equal((await join('two@sub.acme.example', 'Third')).status, 200);
    });
  }
});
