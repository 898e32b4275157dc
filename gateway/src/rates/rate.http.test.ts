import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { rateHeadersOf, useBench } from '../testing/bench.ts';
import { completion, json } from '../testing/mock-provider.ts';
import { issueKey, startTestGateway } from '../testing/test-gateway.ts';

const LIMIT = 20;
const WINDOW_MS = 60_000;

const bench = await useBench();

describe('the rate of a key', () => {
  before(async () => {
    bench.provider.script = json(completion('x', { prompt: 1, completion: 1 }));
  });

  const ask = async (secret: string) => {
    const response = await bench.gateway.chat(secret);
    await response.text();
    return { status: response.status, retryAfter: Number(response.headers.get('retry-after')) };
  };

  it('429 for what would be more than the limit in any 60 seconds, wherever they begin', async () => {
    const key = await issueKey(bench.database, { rateLimitRpm: LIMIT });
    const served: number[] = [];
    let nowMs = 0;
    // Bursts before and after every edge that a counter per minute would have, and a walk of steps between them.
    for (let step = 0; nowMs < 6 * WINDOW_MS; step += 1) {
      const answers = await Promise.all(
        Array.from({ length: step % 4 === 0 ? 15 : 2 }, () => ask(key.secret)),
      );
      for (const { status, retryAfter } of answers) {
        if (status === 200) served.push(nowMs);
        else assert.deepEqual([status, retryAfter >= 1 && retryAfter <= 60], [429, true]);
      }
      const moveMs = (step * 7_919) % 9_001;
      bench.gateway.time.advance(moveMs);
      nowMs += moveMs;
    }
    served.forEach((atMs, index) => {
      const next = served[index + LIMIT];
      assert.ok(
        next === undefined || next - atMs >= WINDOW_MS,
        `more than ${LIMIT} in ${(next ?? 0) - atMs} ms`,
      );
    });
    assert.ok(served.length > 5 * LIMIT, `${served.length} were served`);
  });

  it('200 after exactly what Retry-After says', async () => {
    const key = await issueKey(bench.database, { rateLimitRpm: 1 });
    assert.equal((await ask(key.secret)).status, 200);
    bench.gateway.time.advance(12_000);
    const { status, retryAfter } = await ask(key.secret);
    assert.deepEqual([status, retryAfter], [429, 48]);
    bench.gateway.time.advance(48_000 - 1);
    assert.equal((await ask(key.secret)).status, 429);
    bench.gateway.time.advance(1);
    assert.equal((await ask(key.secret)).status, 200);
  });

  it('429 beyond the ceiling for a key that was given more, which is told of the ceiling', async () => {
    const settings = { bodyLimitBytes: 1024 * 1024, rateLimitCeilingRpm: 3 };
    await using gateway = await startTestGateway(bench.database, { settings });
    const [more, less] = [
      await issueKey(bench.database, { rateLimitRpm: LIMIT }),
      await issueKey(bench.database, { rateLimitRpm: 2 }),
    ];
    for (const [{ secret }, limit] of [
      [more, 3],
      [less, 2],
    ] as const) {
      const authorization = `Bearer ${secret}`;
      const shown = await gateway.fetch('/v1/key', { headers: { authorization } });
      assert.equal(rateHeadersOf(shown)['limit'], String(limit));
      assert.equal(((await shown.json()) as { rate_limit_rpm: number }).rate_limit_rpm, limit);
      // The later ones run on the facts that the first one read.
      const statuses: number[] = [];
      for (let sent = 1; sent <= limit; sent += 1) {
        const response = await gateway.chat(secret);
        await response.text();
        statuses.push(response.status);
      }
      assert.deepEqual(statuses, [...Array(limit - 1).fill(200), 429]);
    }
  });
});
