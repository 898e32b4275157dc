import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { setRateLimit, startFleet } from './gateway-fleet.ts';

// Sends far more requests than a key's rate allows to one gateway, in real time, and counts those served in every 60 seconds.
//
//   node tests/drills/rate.ts [seconds] [limit]

const seconds = Number(process.argv[2] ?? 125);
const limit = Number(process.argv[3] ?? 100);
const WINDOW_MS = 60_000;
const PAUSE_MS = 10;

await using fleet = await startFleet();
const key = await fleet.mint();
await fleet.database.run(setRateLimit, { keyId: key.id, rateLimitRpm: limit });

const served: { readonly sentAt: number; readonly answeredAt: number }[] = [];
let refused = 0;
const end = performance.now() + seconds * 1000;
await Promise.all(
  Array.from({ length: 4 }, async () => {
    while (performance.now() < end) {
      const sentAt = performance.now();
      const status = await fleet.ask(0, key.secret);
      if (status === 200) served.push({ sentAt, answeredAt: performance.now() });
      else {
        assert.equal(status, 429);
        refused += 1;
      }
      await delay(PAUSE_MS);
    }
  }),
);

// A request counts at some moment between its start and its answer. Requests entirely within a window count in it.
let most = 0;
for (const { sentAt } of served) {
  const inside = served.filter((one) => one.sentAt >= sentAt && one.answeredAt < sentAt + WINDOW_MS).length;
  most = Math.max(most, inside);
}
assert.ok(most <= limit, `${most} were served within 60 seconds, and ${limit} are allowed`);
const due = limit * Math.floor(seconds / 60);
assert.ok(served.length >= due, `${served.length} were served in ${seconds} s, and ${due} were due`);
process.stdout.write(
  `${served.length} served and ${refused} refused in ${seconds} s at ${limit} in any 60 s; at most ${most} in any 60 s\n`,
);
