import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { duringTests, newcomer, startOpenIdProvider } from '@gatehouse/control-plane/testing';
import type { Page } from 'playwright-core';
import { assertAccessible } from './axe.ts';
import { OTHER_NAME, startBrowser, type Visit } from './browser.ts';
import { type DashboardService, type Person, startDashboardService } from './dashboard-service.ts';
import { findSidewaysScroll } from './pages.ts';

const NOTICE = 'You cannot stay signed in at this address.';
const NOT_KEPT = 'You signed in, but the browser did not keep the session.';

async function enter(page: Page, { email, password }: Person): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

function otherOrigin({ api }: DashboardService): string {
  return `http://${OTHER_NAME}:${api.port}`;
}

/** A header that counts on HTTPS and localhost only; Chromium says so on each page. */
function expectIgnoredHeader({ problems }: Visit): void {
  problems.expect(/Cross-Origin-Opener-Policy header has been ignored/);
}

describe('the dashboard over plain HTTP', () => {
  const provider = duringTests(() => startOpenIdProvider());
  const service = duringTests(() =>
    startDashboardService({ rows: 100, google: { issuer: provider.issuer, clientId: provider.clientId } }),
  );
  const browser = duringTests(() => startBrowser(service.origin));
  const browserOfOther = duringTests(() => startBrowser(otherOrigin(service)));

  it('says before a sign-in under another name than localhost why it cannot work, and what to do', async () => {
    for (const theme of ['light', 'dark'] as const) {
      await using visit = await browserOfOther.visit({ theme, width: theme === 'dark' ? 360 : 1280 });
      expectIgnoredHeader(visit);
      const { page } = visit;
      for (const path of ['/register', '/']) {
        await visit.open(path);
        await page.getByText(NOTICE).waitFor();
        await page
          .getByText(`ssh -L 8080:127.0.0.1:${service.api.port} ${OTHER_NAME}`, { exact: true })
          .waitFor();
        await assertAccessible(page);
        assert.deepEqual(await findSidewaysScroll(page), []);
        await visit.screenshot(`plain-http-${theme}-${path.slice(1)}`);
      }
    }
  });

  it('stays at the form where the browser drops the cookies, and opens no page without a session', async () => {
    await using visit = await browserOfOther.visit();
    expectIgnoredHeader(visit);
    await visit.open('/');
    const { page } = visit;
    await enter(page, service.owner);
    await page.getByRole('alert').getByText(NOT_KEPT).waitFor();
    await assertAccessible(page);
    await visit.screenshot('plain-http-signed-in');
    assert.equal(new URL(page.url()).pathname, '/sign-in');
    assert.equal(await page.getByText('The session has ended').count(), 0);
    assert.equal((await visit.context.cookies()).length, 0);

    await visit.open('/register');
    await page.getByLabel('E-mail').fill('plain-http@example.com');
    await page.getByLabel('Password').fill(service.owner.password);
    await page.getByLabel('Organisation').fill('Over plain HTTP');
    await page.getByRole('button', { name: 'Create the account' }).click();
    await page.getByRole('alert').getByText(NOT_KEPT).waitFor();
  });

  it('begins a sign-in with Google, and says the same at its end', async () => {
    await using visit = await browserOfOther.visit();
    expectIgnoredHeader(visit);
    const { page } = visit;
    visit.problems.expect(new RegExp(`^request to ${provider.issuer}`));
    await visit.context.route(`${provider.issuer}/**`, async (route) => {
      const asked = new URL(route.request().url()).searchParams;
      const { idToken } = await provider.issue(newcomer(), { nonce: asked.get('nonce') ?? '' });
      const answer = new URLSearchParams({ state: asked.get('state') ?? '', id_token: idToken });
      await route.fulfill({ status: 303, headers: { location: `${asked.get('redirect_uri')}#${answer}` } });
    });
    await visit.open('/');
    await page.getByRole('button', { name: 'Continue with Google' }).click();
    await page.getByLabel('Organisation').fill(service.organization.name);
    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    await page.getByRole('alert').getByText(NOT_KEPT).waitFor();
  });

  it('says nothing of it on localhost, where the answer to a sign-in has the hint all the same', async () => {
    await using visit = await browser.visit();
    await visit.open('/');
    const { page } = visit;
    assert.equal(await page.getByText(NOTICE).count(), 0);
    const answer = page.waitForResponse((reply) => reply.url().endsWith('/api/auth/login'));
    await enter(page, service.owner);
    assert.match((await (await answer).headerValue('x-gatehouse-hint')) ?? '', /this machine/);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
  });

  it('says on localhost too where the browser drops the cookies', async () => {
    await using visit = await browser.visit();
    // As some versions of Safari do.
    await visit.context.route('**/api/auth/login', async (route) => {
      const reply = await route.fetch();
      const { 'set-cookie': _, ...headers } = reply.headers();
      // The context has them from its own fetch. The page goes on as soon as it has the answer.
      await visit.context.clearCookies();
      await route.fulfill({ response: reply, headers });
    });
    await visit.open('/');
    const { page } = visit;
    await enter(page, service.owner);
    await page.getByRole('alert').getByText(NOT_KEPT).waitFor();
    assert.equal(new URL(page.url()).pathname, '/sign-in');
    await visit.screenshot('dropped-on-localhost');
  });
});
