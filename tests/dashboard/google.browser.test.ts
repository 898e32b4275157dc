import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  duringTests,
  newcomer,
  type OpenIdProvider,
  startOpenIdProvider,
} from '@gatehouse/control-plane/testing';
import { assertAccessible } from './axe.ts';
import { startBrowser, type Visit } from './browser.ts';
import { startDashboardService } from './dashboard-service.ts';

type Account = ReturnType<typeof newcomer>;

/** Stands for the sign-in page of the provider: signs the account in at once, and sends the browser back with its token. */
async function signsInAtProvider(visit: Visit, provider: OpenIdProvider, account: Account): Promise<void> {
  visit.problems.expect(new RegExp(`^request to ${provider.issuer}`));
  await visit.context.route(`${provider.issuer}/**`, async (route) => {
    const asked = new URL(route.request().url()).searchParams;
    assert.equal(asked.get('response_type'), 'id_token');
    assert.equal(asked.get('client_id'), provider.clientId);
    const { idToken } = await provider.issue(account, { nonce: asked.get('nonce') ?? '' });
    const answer = new URLSearchParams({ state: asked.get('state') ?? '', id_token: idToken });
    const target = JSON.stringify(`${asked.get('redirect_uri')}#${answer}`);
    await route.fulfill({ contentType: 'text/html', body: `<script>location.replace(${target})</script>` });
  });
}

describe('signing in with Google in the dashboard', () => {
  const provider = duringTests(() => startOpenIdProvider());
  const service = duringTests(() =>
    startDashboardService({ rows: 100, google: { issuer: provider.issuer, clientId: provider.clientId } }),
  );
  const browser = duringTests(() => startBrowser(service.origin));

  it('asks a new account for its organisation, and signs it in at once the next time', async () => {
    const account = newcomer();
    await using visit = await browser.visit();
    const { page } = visit;
    await signsInAtProvider(visit, provider, account);
    await visit.open('/members');
    await page.getByRole('button', { name: 'Continue with Google' }).click();
    await page.getByText('This Google account is new here').waitFor();
    assert.equal(new URL(page.url()).hash, '', 'the token must not stay in the address bar');
    await assertAccessible(page);
    await page.getByLabel('Organisation').fill(service.organization.name);
    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    await page.getByRole('heading', { name: 'Members', level: 1 }).waitFor();
    await page.getByRole('button', { name: `Account: ${account.email}` }).waitFor();

    await using again = await browser.visit();
    await signsInAtProvider(again, provider, account);
    await again.open('/');
    await again.page.getByRole('button', { name: 'Continue with Google' }).click();
    await again.page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  it('says why it cannot begin where the browser stores nothing', async () => {
    await using visit = await browser.visit();
    await visit.context.addInitScript(`Object.defineProperty(window, 'sessionStorage', {
      get() { throw new DOMException('denied', 'SecurityError'); },
    });`);
    await visit.open('/');
    await visit.page.getByRole('button', { name: 'Continue with Google' }).click();
    await visit.page.getByText('This browser lets the page store nothing').waitFor();
    assert.equal(new URL(visit.page.url()).origin, service.origin);
  });

  it('does not accept an answer that this tab did not ask for', async () => {
    await using visit = await browser.visit();
    const { idToken } = await provider.issue(newcomer(), { nonce: 'n' });
    await visit.open(`/sign-in#state=forged&id_token=${idToken}`);
    await visit.page.getByText('belongs to no sign-in of this tab').waitFor();
    assert.equal(new URL(visit.page.url()).hash, '');
    assert.equal((await visit.context.cookies()).length, 0);
  });
});
