import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analytics, keys } from '@gatehouse/contract';
import { duringTests } from '@gatehouse/control-plane/testing';
import { assertAccessible } from './axe.ts';
import { startBrowser } from './browser.ts';
import { startDashboardService } from './dashboard-service.ts';
import { findSidewaysScroll } from './pages.ts';

const LOOKS = [
  { theme: 'light', width: 1440 },
  { theme: 'dark', width: 390 },
] as const;
const WRONG_COMMAS = 'The commas are not where thousands or lakhs have them.';

describe('amounts', () => {
  const service = duringTests(() => startDashboardService({ rows: 200 }));
  const browser = duringTests(() => startBrowser(service.origin));

  it('are typed with thousands or with lakhs, and nothing else is guessed', async () => {
    const client = await service.signIn();
    for (const look of LOOKS) {
      await using visit = await browser.visit(look);
      await visit.signIn(client);
      const { page } = visit;
      await visit.open('/keys');
      await page.getByRole('button', { name: 'Create a key' }).click();
      const dialog = page.getByRole('dialog', { name: 'Create a key' });
      const limit = dialog.getByLabel('Credit limit');
      const name = `lakh ${look.theme}`;
      await dialog.getByLabel('Name', { exact: true }).fill(name);
      for (const wrong of ['1,0,0', '1.000,00']) {
        await limit.fill(wrong);
        await dialog.getByRole('button', { name: 'Create the key' }).click();
        await dialog.getByText(WRONG_COMMAS).waitFor();
      }
      await assertAccessible(page);
      assert.deepEqual(await findSidewaysScroll(page), []);
      await visit.screenshot(`amount-${look.theme}-${look.width}`);
      await limit.fill('1,00,000.50');
      await dialog.getByText(WRONG_COMMAS).waitFor({ state: 'detached' });
      // The page may renew its session meanwhile, which is a POST too.
      const minted = page.waitForResponse(
        (reply) => reply.request().method() === 'POST' && reply.url().endsWith('/api/keys'),
      );
      await dialog.getByRole('button', { name: 'Create the key' }).click();
      assert.equal((await minted).status(), 201);
      const found = (await client.call(keys.listKeys)).keys.find((key) => key.name === name);
      assert.equal(found?.credit_limit_cents, 100_000_500_000);
    }
  });

  it('are read so where requests are filtered by their cost', async () => {
    const client = await service.signIn();
    await service.add([{ costMicroPkr: 150_000_000_000n }, { costMicroPkr: 99_999_000_000n }]);
    const { total } = await client.call(analytics.listRequests, { query: { min_cost_pkr: 100_000 } });
    assert.equal(total, 1);
    for (const look of LOOKS) {
      await using visit = await browser.visit(look);
      await visit.signIn(client);
      const { page } = visit;
      await visit.open('/requests');
      const field = page.getByLabel('Cost from, in PKR');
      await field.fill('1,00,0');
      await page.getByText(WRONG_COMMAS).waitFor();
      assert.equal(new URL(page.url()).searchParams.get('cost'), null);
      await assertAccessible(page);
      assert.deepEqual(await findSidewaysScroll(page), []);
      await visit.screenshot(`amount-filter-${look.theme}-${look.width}`);
      await field.fill('1,00,000');
      await page.getByText(WRONG_COMMAS).waitFor({ state: 'hidden' });
      await page.waitForURL(/cost=100000\b/);
      await page.getByRole('heading', { name: 'Requests: 1', exact: true }).waitFor();
      assert.equal(await field.inputValue(), '1,00,000');
    }
  });

  it('are written in the activity log as everywhere', async () => {
    for (const look of LOOKS) {
      await using visit = await browser.visit(look);
      await visit.signIn(await service.signIn());
      await visit.open('/activity?action=budget.deposited');
      const table = visit.page.getByRole('table', { name: 'Activity' });
      await table
        .getByText(/changed the budget by/)
        .first()
        .waitFor();
      const text = await table.innerText();
      assert.match(text, /changed the budget by PKR [\d,]+\.\d\d\b/);
      assert.doesNotMatch(text, /\d PKR|\d{4,}\./);
      await visit.screenshot(`activity-amounts-${look.theme}-${look.width}`);
    }
  });
});
