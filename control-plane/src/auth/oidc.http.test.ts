import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { ACCESS_COOKIE, auth, REFRESH_COOKIE, service } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { duringTests } from '../testing/during-tests.ts';
import { newcomer } from '../testing/google-api.ts';
import {
  assertFailed,
  locationOf,
  OIDC_CALLBACK,
  OIDC_ORGANIZATION,
  startOidcApi,
} from '../testing/oidc-api.ts';
import { TEST_PASSWORD } from '../testing/test-api.ts';

describe('signing in by OpenID Connect', () => {
  const oidc = duringTests(() => startOidcApi());

  it('302 to the issuer with a code challenge, a state and a nonce of this browser only', async () => {
    const first = new URL(await oidc.browser().begin());
    const second = new URL(await oidc.browser().begin());
    assert.equal(first.origin + first.pathname, `${oidc.provider.issuer}/auth`);
    const asked = Object.fromEntries(first.searchParams);
    assert.deepEqual(
      { ...asked, state: '', nonce: '', code_challenge: '' },
      {
        client_id: oidc.provider.clientId,
        response_type: 'code',
        redirect_uri: OIDC_CALLBACK,
        scope: 'openid email',
        code_challenge_method: 'S256',
        state: '',
        nonce: '',
        code_challenge: '',
      },
    );
    const own = ['state', 'nonce', 'code_challenge'].map((name) => first.searchParams.get(name));
    assert.equal(new Set(own).size, 3);
    for (const name of ['state', 'nonce', 'code_challenge'])
      assert.notEqual(first.searchParams.get(name), second.searchParams.get(name));
  });

  it('303 to the page with a session: the first account makes the organisation and owns it, the next ones join', async () => {
    await using other = await startOidcApi();
    const [first, second] = [newcomer(), newcomer()];
    const { reply, browser } = await other.signIn(first, { returnTo: '/keys?q=1#a' });
    assert.deepEqual([reply.status, locationOf(reply)], [303, '/keys?q=1#a']);
    const account = await browser.account();
    assert.deepEqual([account?.user.email, account?.user.role], [first.email, 'owner']);
    assert.equal(account?.organization.name, OIDC_ORGANIZATION);
    const joined = await (await other.signIn(second)).browser.account();
    assert.deepEqual([joined?.user.role, joined?.organization.id], ['member', account?.organization.id]);
    assert.deepEqual([...browser.cookies.keys()].sort(), [ACCESS_COOKIE, REFRESH_COOKIE]);
  });

  it('joins although the organisation takes no registrations', async () => {
    await using closed = await startOidcApi({}, {}, { joinPolicy: 'closed' });
    await closed.signIn(newcomer());
    const { browser } = await closed.signIn(newcomer());
    assert.equal((await browser.account())?.user.role, 'member');
  });

  it('finds the account by its subject, whatever its address is now', async () => {
    const account = newcomer();
    const before = await (await oidc.signIn(account)).browser.account();
    for (const changed of [{ email: `${randomUUID()}@elsewhere.example` }, { email_verified: false }]) {
      const { browser } = await oidc.signIn({ ...account, ...changed });
      assert.deepEqual((await browser.account())?.user, before?.user);
    }
  });

  it('links an account with the verified address, which keeps its password, its sessions and its organisation', async () => {
    const member = await oidc.api.signUp();
    const { browser } = await oidc.signIn(newcomer({ email: member.email.toUpperCase() }));
    const account = await browser.account();
    assert.deepEqual(
      [account?.user.user_id, account?.organization.id],
      [member.userId, member.organizationId],
    );
    await member.client.call(auth.me);
    const again = oidc.api.anonymous();
    await again.call(auth.login, { body: { email: member.email, password: TEST_PASSWORD } });
  });

  it('does not open an account that another subject of the issuer opens', async () => {
    const account = newcomer();
    await oidc.signIn(account);
    const { reply, browser } = await oidc.signIn(newcomer({ email: account.email }));
    await assertFailed(browser, reply, 'account_linked');
  });

  for (const [title, claims, code] of [
    ['an address that is not verified', { email_verified: false }, 'email_not_verified'],
    ['no address', { email: undefined as never }, 'email_not_verified'],
    ['an address that nobody can register', { email: 'nobody' }, 'email_not_accepted'],
  ] as const) {
    it(`303 with ${code} for ${title}, and no account`, async () => {
      const account = newcomer(claims);
      const { reply, browser } = await oidc.signIn(account);
      await assertFailed(browser, reply, code);
    });
  }

  it('303 with account_deactivated while the account is, linked or not', async () => {
    const linked = newcomer();
    const { browser } = await oidc.signIn(linked);
    const member = await oidc.api.signUp();
    const emails = [linked.email, member.email];
    await runSql(oidc.api.owner)`UPDATE users SET is_active = false WHERE email = ANY(${emails})`;
    assert.equal(await browser.account(), undefined);
    for (const account of [linked, newcomer({ email: member.email })]) {
      const { reply, browser: next } = await oidc.signIn(account);
      await assertFailed(next, reply, 'account_deactivated');
    }
  });

  it('ends the earlier session of the browser, and records the sign-in', async () => {
    const account = newcomer();
    const { browser } = await oidc.signIn(account);
    const earlier = browser.cookies.get(ACCESS_COOKIE);
    await oidc.signIn(account, { from: browser });
    const stale = oidc.browser();
    stale.cookies.set(ACCESS_COOKIE, String(earlier));
    assert.equal(await stale.account(), undefined);
    const { user, organization } = (await browser.account()) ?? assert.fail();
    const events = await runSql<{ action: string; target: string }>(
      oidc.api.owner,
    )`SELECT action, target FROM activity_events
      WHERE organization_id = ${organization.id} AND actor_user_id = ${user.user_id} ORDER BY sequence`;
    assert.deepEqual(
      events.filter(({ target }) => target === account.email).map(({ action }) => action),
      ['member.joined', 'user.login', 'user.login'],
    );
  });

  it('says what the button says, and a client with a secret proves itself in either way', async () => {
    const { oidc: shown } = await oidc.api.anonymous().call(service.getService);
    assert.deepEqual(shown, { label: 'Continue with Acme' });
    for (const authentication of ['client_secret_basic', 'client_secret_post'] as const) {
      await using confidential = await startOidcApi({}, { authentication });
      const { browser } = await confidential.signIn(newcomer());
      assert.equal((await browser.account())?.user.role, 'owner');
    }
  });

  it('asks for the address where the ID token has none', async () => {
    await using conformant = await startOidcApi({}, { isConformant: true });
    const account = newcomer();
    const { browser } = await conformant.signIn(account);
    assert.equal((await browser.account())?.user.email, account.email);
    const { reply, browser: next } = await conformant.signIn(newcomer({ email_verified: false }));
    await assertFailed(next, reply, 'email_not_verified');
  });

  it('creates one account for many first sign-ins of one subject at once', async () => {
    const account = newcomer();
    const replies = await Promise.all(Array.from({ length: 10 }, () => oidc.signIn(account)));
    const ids = new Set<string | undefined>();
    for (const { browser } of replies) ids.add((await browser.account())?.user.user_id);
    assert.equal(ids.size, 1);
    assert.ok(!ids.has(undefined));
  });
});

describe('OIDC_DOMAINS', () => {
  const oidc = duringTests(() => startOidcApi({ domains: new Set(['acme.example', 'acme.org']) }));

  for (const [email, isAdmitted] of [
    ['ada@acme.example', true],
    ['bea@ACME.org', true],
    ['cem@sub.acme.example', false],
    ['dan@notacme.example', false],
    ['eve@acme.example.attacker.example', false],
    ['"x@acme.example"@attacker.example', false],
  ] as const) {
    it(`${isAdmitted ? 'admits' : 'refuses'} ${email}`, async () => {
      const { reply, browser } = await oidc.signIn(newcomer({ email }));
      if (isAdmitted) assert.notEqual(await browser.account(), undefined);
      else await assertFailed(browser, reply, 'domain_not_allowed');
    });
  }

  it('holds for linked accounts too', async () => {
    const account = newcomer({ email: `${randomUUID()}@acme.example` });
    await oidc.signIn(account);
    const left = await oidc.signIn({ ...account, email: 'fay@elsewhere.example' });
    await assertFailed(left.browser, left.reply, 'domain_not_allowed');
    const unverified = await oidc.signIn({ ...account, email_verified: false });
    await assertFailed(unverified.browser, unverified.reply, 'email_not_verified');
  });
});

describe('PASSWORD_SIGN_IN=off', () => {
  const oidc = duringTests(() => startOidcApi({}, {}, { passwordSignIn: false }));

  it('403 for registering and signing in with a password; the issuer is the way in', async () => {
    const body = { email: 'ada@example.com', password: TEST_PASSWORD };
    const anyone = oidc.api.anonymous();
    await anyone.refused(auth.login, 403, { body });
    await anyone.refused(auth.register, 403, { body: { ...body, organization_name: 'Acme' } });
    assert.equal((await anyone.call(service.getService)).password_sign_in, false);
    const { browser } = await oidc.signIn(newcomer());
    assert.equal((await browser.account())?.user.role, 'owner');
  });
});

describe('without an issuer', () => {
  const oidc = duringTests(() => startOidcApi({}, {}, { oidc: undefined }));

  it('303 with not_configured', async () => {
    for (const path of ['/api/auth/oidc', '/api/auth/oidc/callback?code=a&state=b']) {
      const browser = oidc.browser();
      await assertFailed(browser, await browser.open(path), 'not_configured');
    }
    assert.equal((await oidc.api.anonymous().call(service.getService)).oidc, null);
  });
});
