import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { analytics } from '@gatehouse/contract';
import { duringTests } from '@gatehouse/control-plane/testing';
import type { RequestLogRow } from '@gatehouse/store';
import type { Page } from 'playwright-core';
import { assertAccessible } from './axe.ts';
import { startBrowser } from './browser.ts';
import { startDashboardService } from './dashboard-service.ts';
import { settled } from './visits.ts';

type Attempt = RequestLogRow['attempts'][number];

const NOW = new Date(Date.now() - 3_600_000);
// An id has the time of its request in its first bytes.
const REQUEST = NOW.getTime()
  .toString(16)
  .padStart(12, '0')
  .replace(/^(.{8})(.{4})$/, '$1-$2-7222-8333-444444444444');
const HOSTILE = '<img src=x onerror=alert(1)> "\' \u202egnp.exe';

describe('the page of requests', () => {
  const service = duringTests(() => startDashboardService({ rows: 1_500, days: 20, now: NOW }));
  const browser = duringTests(() => startBrowser(service.origin));

  const visit = async (path: string, theme: 'light' | 'dark' = 'light', width = 1440) => {
    const one = await browser.visit({ theme, width, now: NOW });
    await one.signIn(await service.signIn());
    await one.open(path);
    return one;
  };
  const rowsOf = (page: Page) => page.getByRole('table', { name: 'Requests' }).getByRole('row');
  const total = async (page: Page) =>
    Number((await page.getByRole('heading', { name: /^Requests: / }).innerText()).replace(/\D/g, ''));
  const listed = async (query: Record<string, string | number>) =>
    (await service.signIn()).call(analytics.listRequests, { query });

  it('has the total, the chart and the pages of the API, over all rows and not the page', async () => {
    await using one = await visit('/requests?range=30d');
    const { page } = one;
    const all = await listed({ time_range: '30d' });
    assert.ok(all.total > 1_000);
    assert.equal(await total(page), all.total);
    assert.equal(await rowsOf(page).count(), 51);
    await page.getByRole('button', { name: 'Next page' }).click();
    await page.getByText(/^51–100/).waitFor();
    await settled(page);
    const second = await listed({ time_range: '30d', offset: 50 });
    await rowsOf(page).nth(1).click();
    await page
      .getByRole('dialog')
      .getByText(second.requests[0]?.req_id ?? assert.fail())
      .waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.equal(new URL(page.url()).searchParams.get('request'), null);
  });

  it('searches and filters in all requests, with the conditions in the URL', async () => {
    const text = `session-${'x'.repeat(40)}`;
    await service.add([
      {
        metadata: new Map([['run', text]]),
        startedAtMicros: BigInt(NOW.getTime() - 15 * 86_400_000) * 1000n,
      },
    ]);
    await using one = await visit('/requests?range=30d');
    const { page } = one;
    await page.keyboard.press('/');
    await page.keyboard.type(text.toUpperCase());
    // A part of the text finds the same request, so the heading may come before the last keys.
    await page.waitForURL((url) => url.searchParams.get('q') === text.toUpperCase());
    await page.getByRole('heading', { name: 'Requests: 1', exact: true }).waitFor();
    await page.getByText(/^1 request, /).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Requests: 1', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    await page.getByRole('button', { name: 'Filter by Status' }).click();
    await page.getByRole('option', { name: /4xx/ }).click();
    const refused = await listed({ time_range: '30d', status_category: '4xx' });
    await page
      .getByRole('heading', { name: `Requests: ${refused.total.toLocaleString('en-GB')}`, exact: true })
      .waitFor();
    assert.ok(refused.total > 0);
    await one.screenshot('requests-filtered');
  });

  it('shows where the time went, every attempt, and what a row stands for', async () => {
    const attempts = [
      {
        provider: 'azure',
        credential: 'east',
        status: 429,
        startedMs: 2,
        totalMs: 80,
        ttftMs: null,
        ending: 'error_status',
        error: HOSTILE,
      },
      {
        provider: 'openai',
        credential: 'default',
        status: 200,
        startedMs: 90,
        totalMs: 910,
        ttftMs: 310,
        ending: 'served',
        error: null,
      },
    ].map((attempt) => ({
      upstreamModel: 'gpt-5-mini',
      isByok: false,
      promptTokens: 10,
      tokensGenerated: attempt.status === 200 ? 90 : 0,
      costMicroPkr: attempt.status === 200 ? 1n : 0n,
      ...attempt,
    })) as Attempt[];
    await service.add([
      {
        requestId: REQUEST,
        attempts,
        metadata: new Map([['customer', HOSTILE]]),
        userAgent: HOSTILE,
      },
    ]);
    await using one = await visit(`/requests?request=${REQUEST}`, 'dark');
    const panel = one.page.getByRole('dialog');
    await panel.getByText('Attempts: 2').waitFor();
    await panel.getByText('answered with an error (429)').waitFor();
    assert.equal(await panel.getByText(HOSTILE).count(), 3);
    await assertAccessible(one.page);
    await one.screenshot('request-panel');
  });

  it('follows new requests by itself, until it is paused', async () => {
    await using one = await browser.visit({ width: 1440 });
    await one.signIn(await service.signIn());
    await one.open('/requests?range=30d&live=true');
    const { page } = one;
    const before = await total(page);
    await service.add([{}, {}]);
    await page.getByRole('heading', { name: `Requests: ${(before + 2).toLocaleString('en-GB')}` }).waitFor();
    await page.getByRole('switch', { name: 'Live' }).click({ force: true });
    await page.waitForURL((url) => !url.searchParams.has('live'));
  });

  it('saves all rows as CSV, not the page', async () => {
    await using one = await visit('/requests?range=30d');
    const { page } = one;
    await page.getByRole('button', { name: 'Export' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: /CSV/ }).click(),
    ]);
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\r\n');
    assert.ok(lines.length - 1 >= (await listed({ time_range: '30d' })).total);
    assert.match(download.suggestedFilename(), /\.csv$/);
  });

  it('says what to do where there are none, and stays readable on a phone', async () => {
    await using one = await visit('/requests?range=1h&q=nothing-has-this', 'light', 360);
    await one.page.getByText('None in this window passes the filters.').waitFor();
    assert.ok(
      await one.page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth'),
      'the page scrolls sideways',
    );
    await assertAccessible(one.page);
    await one.open('/requests?range=7d');
    await one.screenshot('requests-phone');
  });
});
