import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { newcomer, type OpenIdProvider, startOpenIdProvider } from '@gatehouse/control-plane/testing';
import { jsonOf, runCommand } from '../command-process.ts';
import { type ServiceProcess, startService } from '../service-process.ts';

// The settings of docs/single-sign-on.md, in a whole service, with the provider of that page.

interface Account {
  readonly user: { readonly email: string; readonly role: string };
  readonly organization: { readonly name: string };
}

describe('single sign-on', () => {
  const stack = new AsyncDisposableStack();
  let directory: string;
  let provider: OpenIdProvider;
  let service: ServiceProcess;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-sso-'));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    provider = stack.use(await startOpenIdProvider({ authentication: 'client_secret_basic' }));
    service = stack.use(
      await startService({
        DATA_DIR: join(directory, 'data'),
        OIDC_ISSUER: provider.issuer,
        OIDC_CLIENT_ID: provider.clientId,
        OIDC_CLIENT_SECRET: provider.clientSecret?.reveal() ?? '',
        OIDC_ORGANIZATION: 'Acme',
        OIDC_LABEL: 'Continue with Acme',
        OIDC_DOMAINS: 'example.com',
        PASSWORD_SIGN_IN: 'off',
      }),
    );
    provider.register(`http://localhost:${service.apiPort}/api/auth/oidc/callback`);
  });
  after(() => stack.disposeAsync());

  it('signs in at the issuer, by the address that the browser asked for, and with no password', async () => {
    const api = `http://localhost:${service.apiPort}/api`;
    const facts = (await (await fetch(`${api}/service`)).json()) as Record<string, unknown>;
    assert.deepEqual([facts['oidc'], facts['password_sign_in']], [{ label: 'Continue with Acme' }, false]);
    const password = await fetch(`${api}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'ada@example.com', password: 'correct horse battery staple' }),
    });
    assert.equal(password.status, 403);

    const account = newcomer();
    const begun = await fetch(`${api}/auth/oidc?return=/keys`, { redirect: 'manual' });
    assert.equal(begun.status, 302);
    const answered = await provider.visit(begun.headers.get('location') ?? '', account);
    const cookie = begun.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ');
    const entered = await fetch(answered, { redirect: 'manual', headers: { cookie } });
    assert.deepEqual([entered.status, entered.headers.get('location')], [303, '/keys']);
    const session = entered.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ');
    const me = (await (await fetch(`${api}/auth/me`, { headers: { cookie: session } })).json()) as Account;
    assert.deepEqual([me.user.email, me.user.role, me.organization.name], [account.email, 'owner', 'Acme']);

    const environment = { directory };
    const { users } = (await jsonOf(['user', 'list', 'Acme'], environment)) as {
      users: Record<string, unknown>[];
    };
    assert.deepEqual([users[0]?.['has_password'], users[0]?.['oidc_linked']], [false, true]);
    assert.match((await runCommand(['user', 'list', 'Acme'], environment)).stdout, / owner +yes +OpenID /);
  });
});
