import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { duringTests } from '@gatehouse/control-plane/testing';
import { assertAccessible } from './axe.ts';
import { startBrowser } from './browser.ts';
import { startDashboardService } from './dashboard-service.ts';

describe('the reference', () => {
  const service = duringTests(() => startDashboardService({ rows: 100 }));
  const browser = duringTests(() => startBrowser(service.origin));

  it('opens from the account menu, leads to an operation, and needs no script', async () => {
    await using visit = await browser.visit();
    await visit.signIn(await service.signIn());
    const { page } = visit;
    await visit.open('/');
    await page.getByRole('button', { name: /^Account: / }).click();
    await page.getByRole('menuitem', { name: 'API reference' }).click();
    await page.getByRole('heading', { name: 'Reference', level: 1 }).waitFor();
    await assertAccessible(page);
    await page.getByRole('link', { name: 'createKey', exact: true }).click();
    assert.equal(new URL(page.url()).hash, '#api-createKey');
    await page.locator('#api-createKey').getByText('client.keys.createKey').waitFor();
    await visit.screenshot('reference');
    await page.setViewportSize({ width: 390, height: 844 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await assertAccessible(page);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
    assert.equal(await page.locator('script').count(), 0);
  });
});
