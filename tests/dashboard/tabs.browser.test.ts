import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { auth } from '@gatehouse/contract';
import { duringTests } from '@gatehouse/control-plane/testing';
import type { Page } from 'playwright-core';
import { eventually } from '../service-process.ts';
import { settled, startBrowser, type Visit } from './browser.ts';
import { type DashboardService, startDashboardService } from './dashboard-service.ts';

const MINUTE_MS = 60_000;

describe('a session over the tabs of a browser', () => {
  const service: DashboardService = duringTests(() => startDashboardService({ rows: 50 }));
  const browser = duringTests(() => startBrowser(service.origin));

  const pageLink = (page: Page, name: string) =>
    page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name });
  const endedDialog = (page: Page) => page.getByRole('alertdialog', { name: 'The session has ended' });
  const submit = async (page: Page, password: string) => {
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  };
  const signedIn = async (): Promise<Visit> => {
    const visit = await browser.visit();
    await visit.signIn(await service.signIn());
    return visit;
  };
  /** Resolves once a tab has noted a renewal that is not `known`, with its time: the clock may then go on without ending it. */
  const noted = ({ context }: Visit, known?: string): Promise<string> =>
    eventually(async () => {
      const { origins } = await context.storageState();
      const stored = origins.flatMap(({ localStorage }) => localStorage);
      const value = stored.find(({ name }) => name === 'gatehouse.refreshed-at')?.value;
      return value === known ? undefined : value;
    });
  // The latest moment: no renewal is on its way while the page still opens.
  const LATEST = 'Math.random = () => 0.999;';

  it('is renewed before it expires', async () => {
    await using visit = await browser.visit();
    const { clock } = visit.context;
    await clock.install();
    await visit.context.addInitScript(LATEST);
    await visit.signIn(await service.signIn());
    const renewals: number[] = [];
    visit.page.on('response', (response) => {
      if (response.url().endsWith('/api/auth/refresh')) renewals.push(response.status());
    });
    const renewed = () => visit.page.waitForResponse('**/api/auth/refresh');
    // A tab does not know the age of a cookie that it finds, so it renews it soon.
    const first = renewed();
    await visit.open('/');
    await clock.fastForward(MINUTE_MS);
    await first;
    await noted(visit);
    await clock.fastForward(9 * MINUTE_MS);
    assert.deepEqual(renewals, [200]);
    const second = renewed();
    await clock.fastForward(3 * MINUTE_MS);
    await second;
    assert.deepEqual(renewals, [200, 200]);
  });

  it('is renewed by one of two tabs whose time comes at once, although neither reads what the other stored', async () => {
    await using visit = await browser.visit();
    const { clock } = visit.context;
    await clock.install();
    await visit.context.addInitScript(`
      const { getItem } = Storage.prototype;
      ${LATEST}
      Storage.prototype.getItem = function (key) {
        return key === 'gatehouse.refreshed-at' ? null : getItem.call(this, key);
      };`);
    await visit.signIn(await service.signIn());
    await visit.open('/');
    const tabs = [visit.page, await visit.newTab('/')];
    let renewals = 0;
    visit.context.on('request', (request) => {
      if (request.url().endsWith('/api/auth/refresh')) renewals += 1;
    });
    let known: string | undefined;
    for (const round of [1, 2]) {
      // One of them renews it. The other one asks whether it still has to.
      const renewed = visit.context.waitForEvent('response', (reply) =>
        reply.url().endsWith('/api/auth/refresh'),
      );
      const asked = visit.context.waitForEvent('response', (reply) => reply.url().endsWith('/api/auth/me'));
      await clock.fastForward(round === 1 ? MINUTE_MS : 12 * MINUTE_MS);
      await Promise.all([renewed, asked]);
      known = await noted(visit, known);
      await Promise.all(tabs.map((tab) => settled(tab)));
      assert.equal(renewals, round);
    }
  });

  it('goes on in all tabs when one of them signs in again', async () => {
    await using visit = await signedIn();
    await visit.open('/');
    const other = await visit.newTab('/');
    await visit.context.clearCookies();
    // Without a pointer: the first tab to notice tells the other one, whose dialog would be in its way.
    await Promise.all([visit.page, other].map((tab) => pageLink(tab, 'Members').dispatchEvent('click')));
    await Promise.all([endedDialog(visit.page).waitFor(), endedDialog(other).waitFor()]);
    await submit(visit.page, service.owner.password);
    for (const tab of [visit.page, other]) {
      await endedDialog(tab).waitFor({ state: 'detached' });
      await settled(tab);
      await tab.getByText(service.member.email).first().waitFor();
    }
  });

  it('starts the other tabs again when someone else signs in', async () => {
    await using visit = await signedIn();
    await visit.open('/');
    const other = await visit.newTab('/sign-in');
    await other.getByLabel('E-mail').fill(service.member.email);
    await submit(other, service.member.password);
    await other.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await visit.page.getByRole('button', { name: `Account: ${service.member.email}` }).waitFor();
  });

  it('ends on the server too, and leaves nothing to go back to', async () => {
    const client = await service.signIn();
    await using visit = await browser.visit();
    await visit.signIn(client);
    const { page } = visit;
    await visit.open('/members');
    await page.getByText(service.member.email).first().waitFor();
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.equal((await client.send(auth.me)).status, 401);
    await page.goBack().catch(() => null);
    await visit.open('/members');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.equal(await page.getByText(service.member.email).count(), 0);
  });

  it('says in a sentence that the service cannot be reached, and tries again', async () => {
    await using visit = await signedIn();
    const { page } = visit;
    await visit.open('/');
    visit.problems.expect(/ERR_CONNECTION_REFUSED/);
    await visit.context.route('**/api/**', (route) => route.abort('connectionrefused'));
    await pageLink(page, 'Members').click();
    await page.getByRole('main').getByRole('alert').first().waitFor();
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page
      .getByText('You are still signed in. The service did not answer. Check the connection.')
      .waitFor();
    await visit.context.unroute('**/api/**');
    await page.getByRole('button', { name: 'Try again' }).first().click();
    await page.getByText(service.member.email).first().waitFor();
  });
});
