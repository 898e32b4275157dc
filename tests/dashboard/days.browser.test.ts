import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { duringTests } from '@gatehouse/control-plane/testing';
import { settled, startBrowser } from './browser.ts';
import { startDashboardService } from './dashboard-service.ts';

/** Each has requests just before and after its midnights; in two of them the clocks change within the window. */
const ZONES = [
  { zone: 'America/New_York', offsets: ['-04:00', '-05:00'], change: '2026-11-01' },
  { zone: 'Europe/Berlin', offsets: ['+02:00', '+01:00'], change: '2026-10-25' },
  { zone: 'Asia/Kathmandu', offsets: ['+05:45', '+05:45'], change: '2026-10-25' },
] as const;

const micros = (text: string) => BigInt(Date.parse(text)) * 1000n;
const nextDay = (day: string, days: number) =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
const label = (day: string) =>
  new Intl.DateTimeFormat('en-GB', {
    timeZone: 'UTC',
    weekday: 'short',
    day: 'numeric',
    month: 'short',
  }).format(new Date(`${day}T00:00:00Z`));

describe('the days of a chart', () => {
  const service = duringTests(() => startDashboardService({ rows: 20, days: 1 }));
  const browser = duringTests(() => startBrowser(service.origin));

  for (const { zone, offsets, change } of ZONES) {
    it(`are those of ${zone}, none twice and none missing`, async () => {
      const [before, after] = offsets;
      const [eve, morrow] = [nextDay(change, -1), nextDay(change, 1)];
      const model = `demo/${zone.toLowerCase()}`;
      const at = (time: string) => ({ startedAtMicros: micros(time), model });
      await service.add([
        at(`${eve}T23:59:59${before}`),
        at(`${change}T00:00:01${before}`),
        at(`${change}T23:59:59${after}`),
        at(`${morrow}T00:00:01${after}`),
      ]);
      // Long enough for bars of a day.
      const [first, last] = [nextDay(change, -35), nextDay(change, 35)];
      const search = new URLSearchParams({
        from: `${first}T00:00:00${before}`,
        to: `${last}T00:00:00${after}`,
        model,
      });
      await using visit = await browser.visit({ timeZone: zone });
      await visit.signIn(await service.signIn());
      await visit.open(`/?${search}&by=nothing`);
      const { page } = visit;
      await page.getByText('Each bar is 1 day.').waitFor();
      await page.getByRole('button', { name: 'Show Requests over time as a table' }).click();
      await settled(page);
      const region = page.getByRole('region', { name: 'Requests over time' });
      const days = await region.getByRole('rowheader').allTextContents();
      const values = await region.getByRole('cell').allTextContents();
      const expected = Array.from({ length: 70 }, (_, index) => label(nextDay(last, -1 - index)));
      assert.deepEqual(days, expected);
      const shown = Object.fromEntries(days.map((day, index) => [day, values[index]]));
      assert.deepEqual(
        [eve, change, morrow].map((day) => shown[label(day)]),
        ['1', '2', '1'],
      );
      assert.equal(values.filter((value) => value !== '0').length, 3);
    });
  }
});
