import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ACCESS_COOKIE } from '@gatehouse/contract';
import { duringTests } from '@gatehouse/control-plane/testing';
import type { BrowserContext, Page } from 'playwright-core';
import { assertAccessible } from './axe.ts';
import { settled, startBrowser } from './browser.ts';
import { startDashboardService } from './dashboard-service.ts';

async function enter(page: Page, { email, password }: { email: string; password: string }): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Counts what all tabs send to a path from now on. */
function countRequests(context: BrowserContext, path: string): () => number {
  let count = 0;
  context.on('request', (request) => {
    if (new URL(request.url()).pathname === path) count += 1;
  });
  return () => count;
}

/** Half a minute passes before a tab renews by itself, so that none does so while the test takes the cookie away. */
const RENEWS_LATE = 'Math.random = () => 0.999';

/** The tabs of a browser are several processes, and each has its own copy of the storage. */
const READS_NO_TIME = `
  const { getItem } = Storage.prototype;
  Storage.prototype.getItem = function (key) {
    return key === 'gatehouse.refreshed-at' ? null : getItem.call(this, key);
  };`;

describe('the session of the dashboard', () => {
  const service = duringTests(() => startDashboardService({ rows: 200 }));
  const browser = duringTests(() => startBrowser(service.origin));

  it('asks to sign in, says what is wrong, and returns to where the person wanted to be', async () => {
    await using visit = await browser.visit();
    await visit.open('/?range=7d&by=key');
    const { page } = visit;
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await assertAccessible(page);
    await enter(page, { ...service.owner, password: 'a wrong password' });
    await page
      .getByRole('alert')
      .getByText(/password/i)
      .waitFor();
    assert.equal(await page.getByLabel('E-mail').inputValue(), service.owner.email);
    await enter(page, service.owner);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    assert.equal(new URL(page.url()).search, '?range=7d&by=key');
  });

  it('does not return to another site', async () => {
    await using visit = await browser.visit();
    await visit.open('/sign-in?return=//example.com/x');
    await enter(visit.page, service.owner);
    await visit.page.getByRole('heading', { name: 'Overview' }).waitFor();
    assert.equal(new URL(visit.page.url()).origin, service.origin);
  });

  it('says that an organisation that exists is joined, and joins it', async () => {
    await using visit = await browser.visit({ theme: 'dark' });
    await visit.open('/register');
    const { page } = visit;
    await page.getByText('A name that exists joins that organisation').waitFor();
    await assertAccessible(page);
    await page.getByLabel('E-mail').fill('joins@example.com');
    await page.getByLabel('Password').fill('password');
    await page.getByLabel('Organisation').fill(service.organization.name.toUpperCase());
    await page.getByRole('button', { name: 'Create the account' }).click();
    await page
      .getByText(/common/)
      .last()
      .waitFor();
    await page.getByLabel('Password').fill('correct horse battery staple');
    await page.getByRole('button', { name: 'Create the account' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: 'Account: joins@example.com' }).click();
    await page.getByText(`member of ${service.organization.name}`).waitFor();
  });

  it('renews an expired access cookie by itself, once for all tabs', async () => {
    await using visit = await browser.visit();
    await visit.context.addInitScript(RENEWS_LATE);
    await visit.signIn(await service.signIn());
    await visit.open('/');
    const other = await visit.newTab('/');
    const refreshes = countRequests(visit.context, '/api/auth/refresh');
    await visit.context.clearCookies({ name: ACCESS_COOKIE });
    // What both tabs load now is answered with 401 first, and loaded again.
    await Promise.all(
      [visit.page, other].map(async (tab) => {
        const loaded = tab.waitForResponse(
          (reply) => reply.url().includes('/api/analytics/trend') && reply.ok(),
        );
        await tab.getByRole('button', { name: 'Load the newest figures' }).click();
        await loaded;
      }),
    );
    await Promise.all([settled(visit.page), settled(other)]);
    assert.equal(refreshes(), 1);
    assert.equal(await visit.page.getByRole('alertdialog').count(), 0);
  });

  it('renews it once for all tabs that are refused before, and read an old time in the storage after', async () => {
    await using visit = await browser.visit();
    await visit.signIn(await service.signIn());
    // What another process has written comes late. Here it never comes.
    await visit.context.addInitScript(READS_NO_TIME);
    await visit.context.addInitScript(RENEWS_LATE);
    await visit.open('/');
    const tabs = [visit.page, await visit.newTab('/'), await visit.newTab('/members')];
    const refreshes = countRequests(visit.context, '/api/auth/refresh');
    const refused = tabs.map((tab) => tab.waitForResponse((reply) => reply.status() === 401));
    await visit.context.route('**/api/auth/refresh', async (route) => {
      await Promise.all(refused);
      await route.continue();
    });
    await visit.context.clearCookies({ name: ACCESS_COOKIE });
    for (const tab of tabs) {
      const path = tab === visit.page ? 'Members' : 'Activity';
      await tab.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: path }).click();
    }
    for (const tab of tabs) {
      await tab
        .getByRole('heading', { level: 1, name: tab === visit.page ? 'Members' : 'Activity' })
        .waitFor();
      await settled(tab);
      assert.equal(await tab.getByRole('alert').count(), 0);
      assert.equal(await tab.getByRole('alertdialog').count(), 0);
    }
    assert.equal(refreshes(), 1);
  });

  it('asks to sign in over the page when the session has ended, and goes on there', async () => {
    await using visit = await browser.visit();
    const client = await service.signIn();
    await visit.signIn(client);
    await visit.open('/?range=7d');
    const { page } = visit;
    const other = await visit.newTab('/');
    await visit.context.clearCookies();
    await page.getByRole('button', { name: 'Load the newest figures' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'The session has ended' });
    await dialog.waitFor();
    await assertAccessible(page);
    assert.equal(await dialog.getByLabel('E-mail').inputValue(), service.owner.email);
    await dialog.getByLabel('Password').fill(service.owner.password);
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.equal(new URL(page.url()).search, '?range=7d');
    await settled(page);
    // The other tab has the new cookies and needs nothing.
    await other.getByRole('button', { name: 'Load the newest figures' }).click();
    await settled(other);
    assert.equal(await other.getByRole('alertdialog').count(), 0);
  });

  it('signs out all tabs', async () => {
    await using visit = await browser.visit();
    await visit.signIn(await service.signIn());
    await visit.open('/');
    const other = await visit.newTab('/');
    await visit.page.getByRole('button', { name: /^Account/ }).click();
    await visit.page.getByRole('menuitem', { name: 'Sign out' }).click();
    for (const tab of [visit.page, other]) await tab.getByRole('heading', { name: 'Sign in' }).waitFor();
    // Nothing of the account is left behind the back button.
    await other.goBack().catch(() => undefined);
    await other.goto('/');
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  it('opens the command palette with the keyboard, and keeps the theme that is chosen there', async () => {
    await using visit = await browser.visit();
    await visit.signIn(await service.signIn());
    await visit.open('/');
    const { page } = visit;
    await page.keyboard.press('Control+k');
    await page
      .getByPlaceholder(/Go to a page/)
      .last()
      .waitFor();
    await assertAccessible(page);
    await page.keyboard.type('dark');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.locator('html[data-theme=dark]').waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.reload();
    await page.locator('html[data-theme=dark]').waitFor();
    await settled(page);
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });
});
