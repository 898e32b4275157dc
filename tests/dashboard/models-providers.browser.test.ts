import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { catalogue, vault } from '@gatehouse/contract';
import { duringTests } from '@gatehouse/control-plane/testing';
import { assertAccessible } from './axe.ts';
import { startBrowser } from './browser.ts';
import { startDashboardService } from './dashboard-service.ts';
import { settled, type Visit, type VisitOptions } from './visits.ts';

const SECRET = 'sk-provider-0123456789-abcdefghij-LAST';

describe('models and providers', () => {
  const service = duringTests(() => startDashboardService({ rows: 1 }));
  const browser = duringTests(() => startBrowser(service.origin));

  const visit = async (path: string, options: VisitOptions = {}): Promise<Visit> => {
    const visit = await browser.visit(options);
    await visit.signIn(await service.signIn());
    await visit.open(path);
    return visit;
  };

  it('lists every model of the catalogue, and shows all prices of one', async () => {
    const { routes } = await (await service.signIn()).call(catalogue.listRoutes);
    await using one = await visit('/models');
    const { page } = one;
    const table = page.getByRole('table', { name: 'Models' });
    assert.equal(await table.getByRole('row').count(), routes.length + 1);
    await one.screenshot('models-light');
    const tiered = routes.find(({ price_pkr_per_million: { tiers } }) => tiers.length > 0);
    assert.ok(tiered, 'no model of the catalogue has tiers');
    await page.keyboard.press('/');
    await page.keyboard.type(tiered.id.toUpperCase());
    const matching = routes.filter(({ id, aliases }) =>
      [id, ...aliases].some((name) => name.includes(tiered.id)),
    );
    await page.waitForURL(({ searchParams }) => searchParams.get('q') === tiered.id.toUpperCase());
    await page.getByRole('region', { name: `Models: ${matching.length} of` }).waitFor();
    assert.equal(await table.getByRole('row').count(), matching.length + 1);
    await table.getByText(tiered.id, { exact: true }).click();
    const panel = page.getByRole('dialog', { name: tiered.id });
    const prices = panel.getByRole('region', { name: 'Prices per million tokens' });
    const exact = (value: number) =>
      `PKR ${new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 6 }).format(value)}`;
    const { tiers, ...base } = tiered.price_pkr_per_million;
    for (const [part, label] of [
      ['input', 'Input'],
      ['output', 'Output'],
      ['cache_read', 'Cache read'],
    ] as const) {
      const cells = prices.getByRole('row').filter({ hasText: label }).locator('[title]');
      const shown = await Promise.all((await cells.all()).map((cell) => cell.getAttribute('title')));
      assert.deepEqual(shown, [base[part], ...tiers.map((tier) => tier[part])].map(exact), label);
    }
    await assertAccessible(page);
    await one.screenshot('models-panel');
    const link = panel.getByRole('link', { name: /Show its requests/ });
    const href = new URL((await link.getAttribute('href')) ?? '', service.origin);
    assert.equal(href.searchParams.get('model'), tiered.id);
    await page.reload();
    await settled(page);
    await panel.waitFor();
  });

  it('filters by provider and state', async () => {
    const { routes } = await (await service.signIn()).call(catalogue.listRoutes);
    const inactive = routes.filter(({ active }) => !active);
    await using one = await visit('/models?state=inactive');
    const rows = one.page.getByRole('table', { name: 'Models' }).getByRole('row');
    assert.equal(await rows.count(), inactive.length + 1);
    await one.open('/models?q=no-such-model');
    await one.page.getByText('No model matches').waitFor();
  });

  it('sets, replaces and removes a provider key, and never shows it again', async () => {
    const client = await service.signIn();
    await using one = await visit('/providers', { theme: 'dark' });
    const { page } = one;
    await page.getByRole('button', { name: 'Set the key for openai' }).click();
    const dialog = page.getByRole('dialog', { name: /key for openai/ });
    await dialog.getByRole('button', { name: 'Set the key' }).click();
    await dialog.getByText('Enter the key.').waitFor();
    const field = dialog.getByLabel('The provider’s key');
    assert.equal(await field.getAttribute('type'), 'password');
    one.problems.expect(/400/);
    await field.fill('not a key');
    await dialog.getByRole('button', { name: 'Set the key' }).click();
    await dialog.getByText(/printable ASCII/).waitFor();
    await field.fill(SECRET);
    await assertAccessible(page);
    await one.screenshot('providers-set');
    await dialog.getByRole('button', { name: 'Set the key' }).click();
    const row = page
      .getByRole('table', { name: 'Providers' })
      .getByRole('row')
      .filter({ hasText: 'openai' })
      .first();
    await row.getByText('…LAST').waitFor();
    const { keys } = await client.call(vault.listVaultKeys);
    assert.equal(keys.find(({ provider }) => provider === 'openai')?.key_hint, 'LAST');
    assert.ok(!(await page.content()).includes(SECRET));
    await assertAccessible(page);
    await one.screenshot('providers-dark');

    await page.getByRole('button', { name: 'Replace the key for openai' }).click();
    assert.equal(await field.inputValue(), '');
    await field.fill(`${SECRET}2`);
    await page.keyboard.press('Enter');
    await row.getByText('…AST2').waitFor();

    await row.getByRole('link', { name: /models.* of openai$/ }).click();
    await page.getByText('On your key', { exact: true }).first().waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Remove the key for openai' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove the key' }).click();
    await page.getByRole('button', { name: 'Set the key for openai' }).waitFor();
    const left = await client.call(vault.listVaultKeys);
    assert.ok(!left.keys.some(({ provider }) => provider === 'openai'));
  });
});
