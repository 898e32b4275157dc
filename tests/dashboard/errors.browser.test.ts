import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { analytics } from '@gatehouse/contract';
import { duringTests } from '@gatehouse/control-plane/testing';
import type { Page } from 'playwright-core';
import { assertAccessible } from './axe.ts';
import { startBrowser } from './browser.ts';
import { startDashboardService } from './dashboard-service.ts';
import { findSidewaysScroll } from './pages.ts';
import { settled } from './visits.ts';

const NOW = new Date(Date.now() - 3_600_000);
const HOSTILE = '<img src=x onerror=alert(1)> "\' \u202egnp.exe';

describe('the page of errors', () => {
  const service = duringTests(() => startDashboardService({ rows: 1_500, days: 20, now: NOW }));
  const browser = duringTests(() => startBrowser(service.origin));
  before(() =>
    service.add([
      ...Array.from({ length: 3 }, () => ({ status: 429, refusal: 'credit_held', model: HOSTILE })),
      { status: 401, refusal: 'invalid_api_key', model: '', keyId: null, projectId: null },
    ]),
  );

  const visit = async (path: string, theme: 'light' | 'dark' = 'light', width = 1440, height = 900) => {
    const one = await browser.visit({ theme, width, height, now: NOW });
    await one.signIn(await service.signIn());
    await one.open(path);
    return one;
  };
  const groupsOf = async (by: string) =>
    (await service.signIn()).call(analytics.getBreakdown, {
      query: { time_range: '60d', error_code: 'any', group_by: by, limit: 100 },
    });
  const cells = async (page: Page, table: string) => {
    const rows = await page.getByRole('table', { name: table, exact: true }).getByRole('row').all();
    return Promise.all(rows.slice(1).map(async (row) => row.getByRole('cell').allInnerTexts()));
  };
  const whole = new Intl.NumberFormat('en');

  it('has the figures of the API, and explains the largest group', async () => {
    await using one = await visit('/errors?range=60d');
    const { page } = one;
    const { total, groups } = await groupsOf('error_code');
    assert.ok(groups.length > 2 && groups.every(({ group }) => group !== null));
    const figure = page.getByRole('article', { name: 'Errors', exact: true }).locator('p[title]');
    assert.equal(await figure.getAttribute('title'), whole.format(total.requests));
    assert.deepEqual(
      (await cells(page, 'Codes')).map(([code, , errors]) => [code, errors]),
      groups.map(({ group, requests }) => [group, whole.format(requests)]),
    );
    const legend = page.getByRole('list', { name: 'Series' });
    for (const { group } of groups.slice(0, 7))
      await legend.getByText(group ?? '', { exact: true }).waitFor();
    await page.getByRole('heading', { name: groups[0]?.group ?? '', exact: true }).waitFor();
    await page.getByRole('heading', { name: 'What to do' }).waitFor();
    await assertAccessible(page);
    await one.screenshot('errors-light');
  });

  it('leads from a code to its newest requests in the request log, and back', async () => {
    await using one = await visit('/errors?range=60d');
    const { page } = one;
    await page.getByRole('cell', { name: 'credit_held', exact: true }).click();
    await page.waitForURL(/group=credit_held/);
    await page.getByText('Requests in flight hold the credit').last().waitFor();
    await page.getByRole('link', { name: /^All \d+ in Requests$/ }).waitFor();
    await settled(page);
    const listed = await (await service.signIn()).call(analytics.listRequests, {
      query: { time_range: '60d', error_code: 'credit_held', limit: 5 },
    });
    assert.equal((await cells(page, 'Newest errors')).length, Math.min(5, listed.total));
    await page.getByRole('link', { name: `All ${listed.total} in Requests`, exact: true }).waitFor();
    await page.getByRole('table', { name: 'Newest errors' }).getByRole('row').nth(1).click();
    await page
      .getByRole('dialog')
      .getByText(listed.requests[0]?.req_id ?? assert.fail())
      .waitFor();
    const search = new URL(page.url()).searchParams;
    assert.deepEqual([search.get('error'), search.get('range')], ['credit_held', '60d']);
    await page.goBack();
    await page.getByRole('heading', { name: 'credit_held', exact: true }).waitFor();
  });

  it('groups by status, model and key, also errors that have none, with names as text', async () => {
    await using one = await visit('/errors?range=60d', 'dark');
    const { page } = one;
    for (const [tab, by, table] of [
      ['By status', 'status', 'Statuses'],
      ['By model', 'model', 'Models'],
      ['By key', 'key', 'Keys'],
    ] as const) {
      await page.getByRole('tab', { name: tab }).click();
      await page.waitForURL(new RegExp(`by=${by}`));
      await page.getByRole('table', { name: table, exact: true }).waitFor();
      await settled(page);
      const { groups } = await groupsOf(by);
      const shown = await cells(page, table);
      assert.deepEqual(
        shown.map(([, errors]) => errors),
        groups.map(({ requests }) => whole.format(requests)),
      );
      if (by === 'model') assert.ok(shown.some(([model]) => model === HOSTILE));
      await assertAccessible(page);
      await one.screenshot(`errors-${by}-dark`);
    }
    await page.getByRole('cell', { name: 'without a known key' }).click();
    await page.waitForURL(/unknown=true/);
    await page.reload();
    await page.getByText('These requests were refused without a known key').waitFor();
    assert.equal(await page.getByRole('table', { name: 'Newest errors' }).count(), 0);
  });

  it('shows the error rate of a model of all its requests', async () => {
    await using one = await visit('/errors?range=60d&by=model');
    const query = { time_range: '60d', group_by: 'model', limit: 100 };
    const all = await (await service.signIn()).call(analytics.getBreakdown, { query });
    const errors = await groupsOf('model');
    const { group, requests: failed = 0 } =
      errors.groups.find(({ group: name }) => name?.includes('/')) ?? {};
    const requests = all.groups.find((each) => each.group === group)?.requests ?? 0;
    assert.ok(requests > failed);
    const row = one.page.getByRole('row').filter({ has: one.page.getByRole('cell', { name: group ?? '' }) });
    await row
      .first()
      .getByTitle(`of ${whole.format(requests)} requests`)
      .waitFor();
    await row.first().click();
    await one.page.getByRole('button', { name: 'Show its codes' }).click();
    await one.page.getByRole('table', { name: 'Codes', exact: true }).waitFor();
    await settled(one.page);
    assert.equal(new URL(one.page.url()).searchParams.get('model'), group);
    const counts = (await cells(one.page, 'Codes')).map(([, , errors]) => Number(errors));
    assert.equal(
      counts.reduce((sum, errors) => sum + errors, 0),
      failed,
    );
  });

  it('copies the request behind the groups', async () => {
    await using one = await visit('/errors?range=7d&by=status');
    await one.page.getByRole('button', { name: 'Copy the API request of the groups' }).click();
    await one.page.getByText('Copied as curl').waitFor();
    const copied = await one.page.evaluate<string>('navigator.clipboard.readText()');
    const url = new URL(/'(.*)'/.exec(copied)?.[1] ?? '');
    assert.deepEqual(Object.fromEntries(url.searchParams), {
      time_range: '7d',
      error_code: 'any',
      interval: '3h',
      time_zone: 'UTC',
      figures: 'requests',
      group_by: 'status',
      limit: '100',
      previous: 'false',
    });
  });

  it('says so where there are none, and stays readable on a phone and on a wide screen', async () => {
    await using one = await visit(
      '/errors?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z',
      'dark',
      360,
      740,
    );
    await one.page.getByText('No errors in this window').waitFor();
    assert.equal(await one.page.getByRole('table').count(), 0);
    await assertAccessible(one.page);
    await one.open('/errors?range=60d');
    assert.deepEqual(await findSidewaysScroll(one.page), []);
    await assertAccessible(one.page);
    await one.screenshot('errors-phone');
    await one.page.setViewportSize({ width: 2560, height: 1300 });
    assert.deepEqual(await findSidewaysScroll(one.page), []);
    await one.screenshot('errors-wide');
  });
});
