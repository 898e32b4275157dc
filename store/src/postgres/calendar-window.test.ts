import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { useTestDatabase } from '../testing/index.ts';

// The reference is a clock that is read every minute. A window begins when the clock, which is never turned back in the
// reference, first shows its time.

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const WINDOWS = ['hour', 'day', 'week', 'month'] as const;

/** Zones whose clocks change in 2026 as no other's do, and days around the changes. */
const CHANGES: readonly (readonly [zone: string, from: string, days: number])[] = [
  ['UTC', '2026-02-27', 4],
  ['Asia/Karachi', '2026-02-27', 4],
  ['Asia/Kathmandu', '2026-02-27', 3],
  ['Europe/Berlin', '2026-03-28', 4],
  ['Europe/Berlin', '2026-10-24', 4],
  ['America/New_York', '2026-03-07', 3],
  ['America/New_York', '2026-10-31', 3],
  // By half an hour.
  ['Australia/Lord_Howe', '2026-04-04', 3],
  ['Australia/Lord_Howe', '2026-10-03', 3],
  // At a quarter to.
  ['Pacific/Chatham', '2026-04-04', 3],
  ['Pacific/Chatham', '2026-09-26', 3],
  // At midnight: the day begins at one, or its first hour comes twice, or the last of the day before.
  ['Asia/Beirut', '2026-03-28', 3],
  ['America/Havana', '2026-03-07', 3],
  ['America/Havana', '2026-10-31', 3],
  ['America/Santiago', '2026-04-04', 3],
  ['America/Santiago', '2026-09-05', 3],
  // By two hours.
  ['Antarctica/Troll', '2026-03-28', 3],
  ['Antarctica/Troll', '2026-10-24', 3],
];

/** The time that a clock of the zone shows, as if it were UTC. */
function clockOf(timeZone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit' },
  });
  return (at) => {
    const parts = Object.fromEntries(
      format.formatToParts(at).map(({ type, value }) => [type, Number(value)]),
    );
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute);
  };
}

/** The start of the window that a time is in, in numbers that grow with it. */
function startOf(window: (typeof WINDOWS)[number], local: number): number {
  const date = new Date(local);
  if (window === 'hour') return local - (local % (60 * MINUTE_MS));
  const day = local - (local % DAY_MS);
  if (window === 'day') return day;
  if (window === 'week') return day - ((date.getUTCDay() + 6) % 7) * DAY_MS;
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
}

const test = await useTestDatabase();

describe('the windows of a calendar', () => {
  for (const [zone, from, days] of CHANGES)
    it(`tile, and begin when the clock of ${zone} first shows their start: ${from}`, async () => {
      const first = Date.parse(`${from}T00:00:00Z`);
      const clock = clockOf(zone);
      const client = await test.owner.connect();
      try {
        for (const window of WINDOWS) {
          let furthest = clock(first);
          const starts: number[] = [];
          for (let at = first; at < first + days * DAY_MS; at += MINUTE_MS) {
            const before = startOf(window, furthest);
            furthest = Math.max(furthest, clock(at));
            if (startOf(window, furthest) !== before) starts.push(at);
          }
          const { rows } = await client.query<{ at: number; start: number; end: number }>(
            `SELECT ms(m) AS at, ms(started_at) AS start, ms(ends_at) AS end
             FROM generate_series($1::timestamptz, $2, '7 minutes') AS m, calendar_window($3, $4, m, m)`.replaceAll(
              /ms\((\w+)\)/g,
              '(extract(epoch FROM $1) * 1000)::float8',
            ),
            [new Date(first), new Date(first + days * DAY_MS), window, zone],
          );
          for (const { at, start, end } of rows)
            assert.ok(start <= at && at < end, `${window} of ${new Date(at).toISOString()}`);
          const found = [...new Set(rows.map(({ start }) => start))];
          // The first window began before, and the last may be of the minute after.
          assert.deepEqual(
            found.slice(1).map((at) => new Date(at).toISOString()),
            starts.map((at) => new Date(at).toISOString()).slice(0, found.length - 1),
            window,
          );
          assert.ok(found.length >= starts.length);
          const ends = [...new Set(rows.map(({ end }) => end))];
          assert.deepEqual(
            ends.slice(0, -1),
            found.slice(1),
            `${window}: the end of one is the start of the next`,
          );
        }
      } finally {
        await client.end();
      }
    });

  it('are none of a lifetime, which began with its limit', async () => {
    const client = await test.owner.connect();
    try {
      const { rows } = await client.query(
        `SELECT started_at = '2026-01-02' AS starts, ends_at = 'infinity' AS is_endless
         FROM calendar_window('lifetime', 'UTC', '2026-01-02', clock_timestamp())`,
      );
      assert.deepEqual(rows, [{ starts: true, is_endless: true }]);
    } finally {
      await client.end();
    }
  });
});
