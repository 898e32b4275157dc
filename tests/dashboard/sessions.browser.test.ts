import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analytics } from '@gatehouse/contract';
import { duringTests } from '@gatehouse/control-plane/testing';
import { assertAccessible } from './axe.ts';
import { startBrowser } from './browser.ts';
import { startDashboardService } from './dashboard-service.ts';
import { settled } from './visits.ts';

const HOSTILE = '<b onmouseover=alert(1)>\u202e"\'';

describe('sessions, and usage by key', () => {
  const service = duringTests(async () => {
    const service = await startDashboardService({ rows: 400, days: 3 });
    const at = (minutesAgo: number) => BigInt(Date.now() - minutesAgo * 60_000) * 1000n;
    await service.add([
      ...Array.from({ length: 60 }, (_, n) => ({
        metadata: new Map([['run', `run-${n}`]]),
        startedAtMicros: at(n + 1),
        costMicroPkr: 1_000n,
      })),
      ...[1, 2, 3].map((minutes) => ({
        metadata: new Map([['run', HOSTILE]]),
        startedAtMicros: at(minutes + 100),
        costMicroPkr: 5_000_000n,
      })),
    ]);
    return service;
  });
  const browser = duringTests(() => startBrowser(service.origin));

  it('groups by any name, sorts, searches and pages as the API does', async () => {
    const client = await service.signIn();
    await using one = await browser.visit({ width: 1440 });
    await one.signIn(client);
    await one.open('/sessions?name=run');
    const { page } = one;
    await page.getByRole('heading', { name: 'Sessions: 61', exact: true }).waitFor();
    const table = page.getByRole('table', { name: 'Sessions' });
    assert.equal(await table.getByRole('row').count(), 51);
    await table.getByRole('button', { name: 'PKR' }).click();
    await table.locator('[aria-sort="descending"]').getByText('PKR').waitFor();
    await settled(page);
    const { sessions } = await client.call(analytics.listSessions, {
      query: { metadata: 'run', sort: 'cost' },
    });
    assert.equal(sessions[0]?.session, HOSTILE);
    const first = table.getByRole('row').nth(1);
    assert.match(await first.innerText(), /15\.00/);
    await assertAccessible(page);
    await one.screenshot('sessions');
    await page.getByRole('button', { name: 'Next page' }).click();
    await page.getByText(/^51–61/).waitFor();
    await page.getByLabel('Search sessions').fill('run-5');
    await page.getByRole('heading', { name: 'Sessions: 11', exact: true }).waitFor();
  });

  it('leads from a session to its requests', async () => {
    await using one = await browser.visit({ theme: 'dark' });
    await one.signIn(await service.signIn());
    await one.open('/sessions?name=run&sort=cost');
    const { page } = one;
    await page.getByRole('table', { name: 'Sessions' }).getByRole('link').first().click();
    await page.getByRole('heading', { name: 'Requests: 3', exact: true }).waitFor();
  });

  it('says how to name a session where there is none', async () => {
    await using one = await browser.visit({ width: 360 });
    await one.signIn(await service.signIn());
    await one.open('/sessions?name=nothing');
    await one.page.getByText('X-SVC-Meta-Session-Id').waitFor();
    await assertAccessible(one.page);
  });

  it('shows each key’s requests, throttled ones and busiest minute beside its limit', async () => {
    const client = await service.signIn();
    const [key] = service.organization.keys;
    await service.add(Array.from({ length: 12 }, () => ({ status: 429, refusal: 'rate_limit_exceeded' })));
    await using one = await browser.visit({ width: 1440 });
    await one.signIn(client);
    await one.open('/usage?range=7d');
    const { page } = one;
    const { keys } = await client.call(analytics.getUsageThrottling, { query: { time_range: '7d' } });
    const table = page.getByRole('table', { name: 'Usage by key' });
    assert.equal(await table.getByRole('row').count(), keys.length + 1);
    const usage = keys.find((each) => each.key.id === key?.id) ?? assert.fail();
    const row = table
      .getByRole('row')
      .filter({ hasText: usage.key.name ?? '' })
      .first();
    const text = await row.innerText();
    assert.ok(text.includes(usage.requests.toLocaleString('en-GB')), text);
    assert.equal(usage.throttled, 12);
    assert.match(text, /12 \(\d/);
    assert.ok(text.includes(`${usage.peak_rpm.toLocaleString('en-GB')} of`), text);
    await assertAccessible(page);
    await one.screenshot('usage');
    await one.open('/usage?from=2026-11-01T00:00:00Z&to=2026-11-02T00:00:00Z');
    await page.getByText('Throttling is counted back from now.').waitFor();
  });
});
