import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analytics, auth, keys, organization } from '@gatehouse/contract';
import { duringTests } from '@gatehouse/control-plane/testing';
import type { Page } from 'playwright-core';
import { assertAccessible } from './axe.ts';
import { type Browser, settled, startBrowser, type Visit, type VisitOptions } from './browser.ts';
import { type DashboardService, startDashboardService } from './dashboard-service.ts';

const HOSTILE = '<img src=x onerror=alert(1)>"\'`\u202e{{7*7}}';

async function signedIn(
  service: DashboardService,
  browser: Browser,
  options: VisitOptions = {},
): Promise<Visit> {
  const visit = await browser.visit(options);
  await visit.signIn(await service.signIn());
  return visit;
}

/** The exact value of a figure: the title of what is shown. */
async function figure(page: Page, label: string): Promise<string | null> {
  return page.getByRole('article', { name: label, exact: true }).locator('p[title]').getAttribute('title');
}

const whole = new Intl.NumberFormat('en');

describe('the overview', () => {
  const service = duringTests(() => startDashboardService());
  const browser = duringTests(() => startBrowser(service.origin));

  it('shows the figures of the API, for the window and filters in the URL', async () => {
    const client = await service.signIn();
    const all = await client.call(analytics.getBreakdown, {
      query: { time_range: '60d', group_by: 'model' },
    });
    const model = all.groups[0]?.group ?? '';
    await using visit = await signedIn(service, browser, { timeZone: 'Asia/Kathmandu' });
    await visit.open('/?range=60d');
    assert.equal(await figure(visit.page, 'Requests'), whole.format(all.total.requests));
    assert.equal(await figure(visit.page, 'Errors'), whole.format(all.total.errors));
    assert.equal(await figure(visit.page, 'Tokens'), whole.format(all.total.tokens));
    const spend = (await figure(visit.page, 'Spend')) ?? '';
    assert.equal(Number(spend.replace(/^PKR |,/g, '')), all.total.cost_pkr);

    await visit.page.getByRole('button', { name: 'Filter by Model' }).click();
    await visit.page.getByRole('searchbox', { name: 'Search Model' }).fill(model);
    await visit.page.getByRole('option', { name: model }).first().click();
    await visit.page.getByRole('button', { name: `Model: ${model}`, exact: true }).waitFor();
    await settled(visit.page);
    const one = await client.call(analytics.getBreakdown, {
      query: { time_range: '60d', group_by: 'model', model_alias: model },
    });
    assert.notEqual(one.total.requests, all.total.requests);
    assert.equal(await figure(visit.page, 'Requests'), whole.format(one.total.requests));
    await visit.page.reload();
    await settled(visit.page);
    assert.equal(await figure(visit.page, 'Requests'), whole.format(one.total.requests));
  });

  it('shows another figure by a click, and divides it', async () => {
    await using visit = await signedIn(service, browser);
    await visit.open('/?range=60d');
    const { page } = visit;
    await page.getByRole('button', { name: 'Spend', exact: true }).click();
    await page.waitForURL(/metric=spend/);
    await page.getByRole('img', { name: /^Spend over time/ }).waitFor();
    await page.getByRole('button', { name: /Divide by/ }).click();
    await page.getByRole('option', { name: 'By project' }).click();
    await page.waitForURL(/by=project/);
    const body = await (await service.signIn()).call(analytics.getSpend, {
      query: { time_range: '60d', group_by: 'project' },
    });
    const legend = page.getByRole('list', { name: 'Series' });
    for (const { name } of body.groups) await legend.getByText(name ?? '', { exact: true }).waitFor();
    // A click shows one alone; a second one all.
    const shown = legend.locator('[aria-pressed=true]');
    assert.equal(await shown.count(), body.groups.length);
    await shown.first().click();
    assert.equal(await shown.count(), 1);
    await shown.click();
    assert.equal(await shown.count(), body.groups.length);
  });

  it('asks for the quantiles of the chart once, and shows the same figures', async () => {
    const labels = ['Requests', 'Latency p50', 'Latency p95', 'First token', 'Tokens a second'];
    const figures = (page: Page) => Promise.all(labels.map((label) => figure(page, label)));
    /** The figures of the calls that have figures over time. */
    const trendsOf = (visit: Visit) => {
      const asked: string[] = [];
      visit.page.on('request', (request) => {
        const { pathname, searchParams } = new URL(request.url());
        if (pathname === '/api/analytics/trend') asked.push(searchParams.get('figures') ?? 'all');
      });
      return asked;
    };
    await using first = await signedIn(service, browser);
    await first.open('/?range=60d');
    const expected = await figures(first.page);
    assert.ok(expected.every((text) => text !== null));
    // What is here already is not loaded again.
    const later = trendsOf(first);
    await first.page.getByRole('button', { name: 'Latency p95', exact: true }).click();
    await first.page.getByRole('img', { name: /^Latency p95 over time/ }).waitFor();
    await settled(first.page);
    assert.deepEqual(later, ['total_ms']);
    for (const [path, ofChart, others] of [
      ['/?range=60d&metric=latency-p95&by=key', 'total_ms', 'requests,errors,cost_pkr,tokens,ttft_ms'],
      ['/?range=60d&metric=ttft', 'ttft_ms', 'requests,errors,cost_pkr,tokens,total_ms'],
    ] as const) {
      await using visit = await signedIn(service, browser);
      const asked = trendsOf(visit);
      await visit.open(path);
      assert.deepEqual(await figures(visit.page), expected, path);
      assert.deepEqual(asked.toSorted(), [ofChart, `${others},tokens_per_sec`].toSorted(), path);
    }
  });

  it('zooms by dragging into whole buckets, and back with the back button', async () => {
    await using visit = await signedIn(service, browser);
    await visit.open('/?range=30d&by=nothing');
    const { page } = visit;
    const before = await figure(page, 'Requests');
    const range = (label: string) => page.getByRole('button', { name: `Time range: ${label}`, exact: true });
    const chart = page.getByRole('img', { name: /^Requests over time/ });
    const box = await chart.boundingBox();
    assert.ok(box);
    await page.mouse.move(box.x + box.width * 0.4, box.y + 100);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 100, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/from=.*to=/);
    await range('Last 30 days').waitFor({ state: 'detached' });
    await settled(page);
    const search = new URL(page.url()).searchParams;
    const [from, to] = [search.get('from') ?? '', search.get('to') ?? ''];
    const body = await (await service.signIn()).call(analytics.getBreakdown, { query: { from, to } });
    assert.equal(await figure(page, 'Requests'), whole.format(body.total.requests));
    const hours = (Date.parse(to) - Date.parse(from)) / 3_600_000;
    assert.ok(hours > 24 * 4 && hours < 24 * 9, `${from} to ${to}`);
    await page.goBack();
    await range('Last 30 days').waitFor();
    await settled(page);
    assert.equal(await figure(page, 'Requests'), before);
  });

  it('reads out the chart by the arrow keys, and shows it as a table', async () => {
    await using visit = await signedIn(service, browser, { timeZone: 'Asia/Karachi' });
    await visit.open('/?range=30d&by=nothing');
    const { page } = visit;
    await page.getByRole('img', { name: /^Requests over time/ }).focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await page.getByText(/UTC$/).last().waitFor();
    await page.getByRole('button', { name: 'Show Requests over time as a table' }).click();
    const rows = page.getByRole('region', { name: 'Requests over time' }).getByRole('row');
    assert.ok((await rows.count()) > 60);
  });

  it('narrows the page by a click in a top list, spend included, and leads to its requests', async () => {
    const client = await service.signIn();
    const all = await client.call(analytics.getSpend, { query: { time_range: '60d', group_by: 'model' } });
    const [first, second] = all.groups;
    assert.ok(first?.group && second);
    await using visit = await signedIn(service, browser);
    await visit.open('/?range=60d');
    const { page } = visit;
    const spend = async () => Number(((await figure(page, 'Spend')) ?? '').replace(/^PKR |,/g, ''));
    assert.equal(await spend(), all.total.cost_pkr);
    const top = page.getByRole('region', { name: 'Top models' });
    const name = top.getByRole('button', { name: `Filter the page by ${first.group}`, exact: true });
    const pressed = (isPressed: boolean) => name.and(page.locator(`[aria-pressed="${isPressed}"]`));
    const link = top.getByRole('link', { name: `Show the requests of ${first.group}`, exact: true });
    await name.click();
    await pressed(true).waitFor();
    await settled(page);
    assert.equal(await spend(), first.cost_pkr);
    await top.getByText(second.name ?? '', { exact: true }).waitFor({ state: 'detached' });
    assert.equal(new URL(page.url()).searchParams.get('model'), first.group);
    await visit.screenshot('overview-narrowed');
    await name.click();
    await pressed(false).waitFor();
    await settled(page);
    assert.equal(await spend(), all.total.cost_pkr);
    await link.click();
    await page.waitForURL(/\/requests\?/);
    assert.deepEqual(Object.fromEntries(new URL(page.url()).searchParams), {
      range: '60d',
      model: first.group,
    });
  });

  it('copies the request behind a figure', async () => {
    await using visit = await signedIn(service, browser);
    await visit.open('/?range=7d');
    const { page } = visit;
    await page.getByRole('button', { name: 'Copy the API request of the budget' }).click();
    await page.getByText('Copied as curl').waitFor();
    const copied = await page.evaluate('navigator.clipboard.readText()');
    assert.equal(copied, `curl -sS -b cookies.txt '${service.origin}/api/budget?limit=1'`);
  });

  it('has no serious violation and never scrolls sideways, in both themes, on a phone and on a desk', async () => {
    for (const [theme, width, height] of [
      ['light', 1440, 900],
      ['dark', 360, 740],
      ['light', 2560, 1300],
    ] as const) {
      await using visit = await signedIn(service, browser, { theme, width, height });
      await visit.open('/?range=60d');
      await assertAccessible(visit.page);
      assert.equal(
        await visit.page.evaluate('document.documentElement.scrollWidth - innerWidth'),
        0,
        `${width}`,
      );
      await visit.screenshot(`overview-${theme}-${width}`);
    }
  });

  it('shows hostile names as text', async () => {
    const client = await service.signIn();
    const projects = await client.call(organization.listProjects);
    const key = await client.call(keys.createKey, {
      body: { project_id: projects.projects[0]?.id ?? '', name: HOSTILE },
    });
    await service.add([
      { keyId: key.id, projectId: key.project_id, model: HOSTILE, costMicroPkr: 9_000_000_000n },
    ]);
    await using visit = await signedIn(service, browser);
    for (const by of ['key', 'model']) {
      await visit.open(`/?range=1h&by=${by}&metric=spend`);
      await visit.page.getByText(HOSTILE, { exact: true }).first().waitFor();
    }
    await visit.page.keyboard.press('Control+k');
    await visit.page.getByRole('menuitem', { name: '<img src=x' }).first().waitFor();
    // An unknown value in the URL is dropped, also one that looks like a script.
    await visit.open('/?range=javascript:alert(1)&key=%3Cscript%3E&by=constructor&metric=__proto__');
    await visit.page.getByRole('button', { name: 'Time range: Last 24 hours' }).waitFor();
  });

  it('leads a new organisation to its first request, which appears by itself', async () => {
    const email = 'new@first.example';
    const password = 'correct horse battery staple';
    await using visit = await browser.visit();
    await visit.open('/register');
    const { page } = visit;
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByLabel('Organisation').fill('First Example');
    await page.getByRole('button', { name: 'Create the account' }).click();
    await page.getByRole('heading', { name: 'Your first request' }).waitFor();
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Create the key' }).click();
    const secret = await page.getByRole('region', { name: 'the key', exact: true }).textContent();
    assert.match(secret ?? '', /^sk_svc_\w{32}$/);
    const command = await page.getByRole('region', { name: 'the request' }).textContent();
    assert.ok(
      command?.includes(secret ?? 'no secret') && command.includes('/v1/chat/completions'),
      command ?? '',
    );
    const client = await service.signIn({ email, password });
    const body = await client.call(keys.listKeys);
    const [key] = body.keys;
    assert.ok(key);
    const me = await client.call(auth.me);
    await service.add([{ organizationId: me.organization.id, keyId: key.id, projectId: key.project_id }]);
    await page.getByText('The first request has arrived.').waitFor();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await settled(page);
    await page.getByTitle('1', { exact: true }).first().waitFor();
    assert.equal(await figure(page, 'Requests'), '1');
  });
});
