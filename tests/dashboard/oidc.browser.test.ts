import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { duringTests, newcomer, startOpenIdProvider } from '@gatehouse/control-plane/testing';
import { assertAccessible } from './axe.ts';
import { startBrowser } from './browser.ts';
import { startDashboardService } from './dashboard-service.ts';

const LABEL = 'Continue with Acme';

describe('signing in by OpenID Connect in the dashboard', () => {
  const provider = duringTests(() => startOpenIdProvider());
  const service = duringTests(async () => {
    const started = await startDashboardService({
      rows: 100,
      oidc: {
        issuer: provider.issuer,
        clientId: provider.clientId,
        clientSecret: undefined,
        label: LABEL,
        domains: undefined,
        organization: 'Lahore Textiles',
      },
    });
    provider.register(`${started.origin}/api/auth/oidc/callback`);
    return started;
  });
  const browser = duringTests(() => startBrowser(service.origin));
  const atIssuer = () => new RegExp(`^request to ${provider.issuer}/`);

  it('goes to the issuer and comes back to the page that was asked for, signed in', async () => {
    const account = newcomer();
    provider.seats(account);
    await using visit = await browser.visit();
    const { page } = visit;
    visit.problems.expect(atIssuer());
    await visit.open('/members');
    await page.getByRole('button', { name: LABEL }).waitFor();
    await assertAccessible(page);
    await visit.screenshot('sign-in-oidc');
    await page.getByRole('button', { name: LABEL }).click();
    await page.getByRole('heading', { name: 'Members', level: 1 }).waitFor();
    await page.getByRole('button', { name: `Account: ${account.email}` }).waitFor();
    const address = new URL(page.url());
    assert.equal(address.origin + address.pathname + address.search, `${service.origin}/members`);
  });

  it('says why a sign-in failed, and lets the person try again', async () => {
    provider.seats(newcomer({ email_verified: false }));
    await using visit = await browser.visit();
    const { page } = visit;
    visit.problems.expect(atIssuer());
    await visit.open('/sign-in');
    await page.getByRole('button', { name: LABEL }).click();
    await page.getByText('does not vouch for your e-mail address').waitFor();
    await assertAccessible(page);
    await visit.screenshot('sign-in-oidc-failed');
    await page.getByRole('button', { name: LABEL }).waitFor();
    // A link cannot put words of its own there.
    await visit.open('/sign-in?error=Your+account+is+locked');
    await page.getByRole('button', { name: LABEL }).waitFor();
    assert.equal(await page.getByText('Your account is locked').count(), 0);
  });

  it('offers no password where passwords are switched off', async () => {
    await using visit = await browser.visit();
    const { page } = visit;
    await visit.context.route('**/api/service', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ json: { ...(await answer.json()), password_sign_in: false } });
    });
    await visit.open('/sign-in');
    await page.getByRole('button', { name: LABEL }).waitFor();
    await page.getByLabel('Password').waitFor({ state: 'detached' });
    await visit.screenshot('sign-in-oidc-only');
  });
});
