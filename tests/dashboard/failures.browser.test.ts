import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { duringTests } from '@gatehouse/control-plane/testing';
import { assertAccessible } from './axe.ts';
import { startBrowser, type Visit } from './browser.ts';
import { startDashboardService } from './dashboard-service.ts';
import { findSidewaysScroll } from './pages.ts';

const LOOKS = [
  { theme: 'light', width: 1440 },
  { theme: 'dark', width: 390 },
] as const;
const WENT_WRONG = 'Something in this page went wrong. Reload it.';

describe('a page that fails', () => {
  const service = duringTests(() => startDashboardService({ rows: 200 }));
  const browser = duringTests(() => startBrowser(service.origin));

  /** Answers as no version of the API does, so that the page stumbles over it. */
  const answerWrongly = (visit: Visit, path: string, json: object) => {
    visit.problems.expect(/^console: TypeError/);
    return visit.context.route(`**/api/${path}`, (route) => route.fulfill({ json }));
  };

  it('says so in the part that failed, and leaves the others', async () => {
    for (const look of LOOKS) {
      await using visit = await browser.visit(look);
      await visit.signIn(await service.signIn());
      await answerWrongly(visit, 'members*', { members: [null] });
      const { page } = visit;
      await visit.open('/members');
      const notice = page.getByRole('alert').filter({ hasText: WENT_WRONG });
      await notice.getByText(/^TypeError: /).waitFor();
      await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor();
      await assertAccessible(page);
      assert.deepEqual(await findSidewaysScroll(page), []);
      await visit.screenshot(`failed-part-${look.theme}-${look.width}`);
      await visit.context.unroute('**/api/members*');
      await page.reload();
      await page.getByText(service.member.email).first().waitFor();
    }
  });

  it('says so where the whole page failed, beside the navigation, and can be reloaded', async () => {
    for (const look of LOOKS) {
      await using visit = await browser.visit(look);
      await visit.signIn(await service.signIn());
      await answerWrongly(visit, 'activity*', { events: [null], total: 1, limit: 50, offset: 0 });
      const { page } = visit;
      await visit.open('/activity');
      const alert = page.getByRole('main').getByRole('alert');
      await alert.getByRole('heading', { name: 'This page cannot be shown' }).waitFor();
      await alert.getByText(WENT_WRONG).waitFor();
      await assertAccessible(page);
      await visit.screenshot(`failed-page-${look.theme}-${look.width}`);
      await visit.context.unroute('**/api/activity*');
      await page.getByRole('button', { name: 'Reload' }).click();
      await page.getByRole('heading', { level: 1, name: 'Activity' }).waitFor();
    }
  });

  it('is no blank window where its code cannot be loaded or run', async () => {
    for (const look of LOOKS) {
      await using visit = await browser.visit(look);
      const { page } = visit;
      visit.problems.expect(/ERR_BLOCKED_BY_CLIENT|planted/);
      const main = '**/assets/main-*.js';
      await visit.context.route(main, (route) => route.abort('blockedbyclient'));
      await page.goto('/');
      const alert = page.getByRole('alert');
      await alert.getByRole('heading', { name: 'The dashboard could not start' }).waitFor();
      await alert.getByText(/^Could not load .*\/assets\/main-/).waitFor();
      assert.deepEqual(await findSidewaysScroll(page), []);
      await visit.screenshot(`no-start-${look.theme}-${look.width}`);
      await visit.context.unroute(main);
      await visit.context.route(main, (route) =>
        route.fulfill({ contentType: 'text/javascript', body: 'throw new Error("planted")' }),
      );
      await page.reload();
      await alert.getByText(/planted/).waitFor();
      await visit.context.unroute(main);
      await page.reload();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      assert.equal(await alert.count(), 0);
    }
  });
});
