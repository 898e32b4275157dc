import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keys } from '@gatehouse/contract';
import { duringTests } from '@gatehouse/control-plane/testing';
import type { Page } from 'playwright-core';
import { assertAccessible } from './axe.ts';
import { startBrowser } from './browser.ts';
import { startDashboardService } from './dashboard-service.ts';
import type { Visit } from './visits.ts';

const rowsOf = (page: Page) => page.getByRole('table', { name: 'Keys' }).getByRole('row');

describe('a table of hundreds of rows', () => {
  const service = duringTests(() => startDashboardService({ rows: 1 }));
  const browser = duringTests(() => startBrowser(service.origin));

  /** The keys page as it is with so many keys. */
  const visit = async (count: number): Promise<Visit> => {
    const client = await service.signIn();
    const list = await client.call(keys.listKeys);
    const visit = await browser.visit();
    await visit.signIn(client);
    await visit.context.route('**/api/keys', (route) =>
      route.fulfill({
        json: {
          keys: Array.from({ length: count }, (_, index) => ({
            ...list.keys[index % list.keys.length],
            id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
            name: `Key ${index}`,
          })),
        },
      }),
    );
    await visit.open('/keys');
    return visit;
  };

  it('makes the rest after the first rows, and then a scroll lays nothing out', async () => {
    await using one = await visit(300);
    const { page, context } = one;
    await rowsOf(page).nth(300).waitFor();
    const metrics = await context.newCDPSession(page);
    await metrics.send('Performance.enable');
    const layouts = async () =>
      (await metrics.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'LayoutCount')
        ?.value;
    // The first turn of the wheel may show the scroll bar.
    await page.mouse.wheel(0, 120);
    await page.evaluate('new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)))');
    const before = await layouts();
    for (let turn = 0; turn < 20; turn += 1) await page.mouse.wheel(0, 240);
    await page.evaluate('new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)))');
    assert.equal(await layouts(), before);
    assert.ok(((await page.evaluate('scrollY')) as number) > 2_000);
  });

  it('has only the rows near the screen where they are a thousand', async () => {
    await using one = await visit(1_000);
    const { page } = one;
    assert.ok((await rowsOf(page).count()) < 100);
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    await page.getByText('Key 999', { exact: true }).waitFor();
    await assertAccessible(page);
  });

  it('opens the menu of a row with the keyboard, and gives the focus back', async () => {
    await using one = await visit(60);
    const { page } = one;
    const button = page.getByRole('button', { name: 'Actions of Key 55', exact: true });
    await button.focus();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('menuitem', { name: 'Edit limits' }).waitFor();
    assert.equal(await button.getAttribute('aria-expanded'), 'true');
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });
    assert.ok(await button.evaluate((element) => element === element.ownerDocument.activeElement));
  });
});
