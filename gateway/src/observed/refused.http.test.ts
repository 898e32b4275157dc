import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { pino } from 'pino';
import type { FinishedRequest } from '../journal/finished-request.ts';
import { openJournal } from '../journal/index.ts';
import { quick, temporaryDirectory } from '../journal/testing/fixtures.ts';
import { useBench } from '../testing/bench.ts';
import { completion, json } from '../testing/mock-provider.ts';
import { type IssuedKey, issueKey, startTestGateway, type TestGateway } from '../testing/test-gateway.ts';

// Refused requests cost their sender nothing: what the gateway keeps of them must be bounded.

const MANY = 2_000;
/** Thirteen names of a kilobyte. */
const LABELS = Object.fromEntries(
  Array.from({ length: 13 }, (_, n) => [`x-svc-meta-${n}`, 'x'.repeat(1_000)]),
);

const bench = await useBench();

describe('refused requests', () => {
  before(async () => {
    bench.provider.script = json(completion('x', { prompt: 1, completion: 1 }));
  });

  /** Sends so many, some at a time, and returns how many there were of each status. */
  async function send(gateway: TestGateway, secret: string, count: number, body: object = {}) {
    const statuses = new Map<number, number>();
    let left = count;
    const one = async () => {
      while (left > 0) {
        left -= 1;
        const response = await gateway.chat(secret, body, {
          headers: { ...LABELS, 'user-agent': 'u'.repeat(500) },
        });
        await response.text();
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: 16 }, one));
    return Object.fromEntries(statuses);
  }
  const rowsOf = (records: readonly FinishedRequest[], key: IssuedKey) =>
    records.filter(({ keyId }) => keyId === key.id);
  const sum = (rows: readonly FinishedRequest[]) =>
    rows.reduce((total, { requestCount = 1 }) => total + requestCount, 0);

  it('429 with the user agent and the first kilobyte of metadata in the row; 200 with four of them', async () => {
    const key = await issueKey(bench.database, { rateLimitRpm: 1 });
    assert.deepEqual(await send(bench.gateway, key.secret, 2), { 200: 1, 429: 1 });
    const [served, refused] = rowsOf(bench.gateway.journal.records, key).sort((a, b) => a.status - b.status);
    assert.deepEqual([served?.status, served?.metadata.size, served?.userAgent.length], [200, 5, 500]);
    assert.deepEqual([refused?.status, refused?.userAgent.length], [429, 500]);
    assert.deepEqual(
      [...(refused?.metadata ?? [])],
      [...(served?.metadata ?? [])].slice(0, 1).concat([['1', 'x'.repeat(22)]]),
    );
  });

  it('429 two thousand times takes little of the disk, and every one is counted', async () => {
    await using directory = await temporaryDirectory();
    const key = await issueKey(bench.database, { rateLimitRpm: 1 });
    const shipped: FinishedRequest[] = [];
    let isTelemetryAway = true;
    await using journal = await openJournal({
      ...quick,
      directory: directory.path,
      database: bench.database,
      log: pino({ level: 'silent' }),
      shipTelemetry: async (rows) => {
        if (isTelemetryAway) throw new Error('away');
        shipped.push(...rows);
      },
    });
    await using gateway = await startTestGateway(bench.database, { journal });
    assert.deepEqual(await send(gateway, key.secret, MANY), { 200: 1, 429: MANY - 1 });
    // Stopping writes what was counted.
    await gateway.gateway.close({ graceMs: 0 });
    const { appended, bytes } = journal.stats();
    assert.equal(appended, 1 + 60 + 1);
    assert.ok(bytes < 15_000 + 61 * 3_000, `${bytes} bytes`);
    isTelemetryAway = false;
    await journal.flush();
    assert.equal(sum(shipped.filter(({ refusal }) => refusal === 'rate_limit_exceeded')), MANY - 1);
    assert.equal(sum(shipped), MANY);
    const lines = gateway.logged.filter(({ msg }) => msg === 'request');
    assert.equal(lines.length, 1 + 60);
    assert.deepEqual(
      gateway.logged
        .filter(({ event }) => event === 'gateway.requests_counted')
        .map(({ status, key_prefix, requests }) => [status, key_prefix, requests]),
      [[429, key.prefix, MANY - 61]],
    );
  });

  it('401, 400, 403 and 404 are counted in the same way, each for itself', async () => {
    const expired = await issueKey(bench.database, { expiresIn: '-1 second' });
    const restricted = await issueKey(bench.database, { allowedModels: ['mock/other'] });
    const { journal } = bench.gateway;
    assert.deepEqual(await send(bench.gateway, expired.secret, 200), { 401: 200 });
    assert.deepEqual(await send(bench.gateway, restricted.secret, 200), { 403: 200 });
    assert.deepEqual(await send(bench.gateway, bench.key.secret, 100, { model: 'none' }), { 404: 100 });
    assert.deepEqual(await send(bench.gateway, bench.key.secret, 100, { model: 7 }), { 400: 100 });
    bench.gateway.time.fire(10_000);
    const counted = () => journal.records.filter(({ requestCount }) => requestCount !== undefined);
    await journal.count(60 * 3 + 4);
    assert.deepEqual(
      counted().map(({ keyId, status, refusal, requestCount }) => [keyId, status, refusal, requestCount]),
      [
        [expired.id, 401, 'key_expired', 140],
        [restricted.id, 403, 'model_not_allowed', 140],
        [bench.key.id, 404, 'model_not_found', 40],
        [bench.key.id, 400, 'invalid_request', 100],
      ],
    );
    for (const key of [expired, restricted, bench.key]) assert.equal(sum(rowsOf(journal.records, key)), 200);
  });

  it('503 for everything new while the disk is nearly full, before anybody is asked, and 200 again after', async () => {
    const { gateway, key, provider } = bench;
    const [records, asked] = [gateway.journal.records.length, provider.asked.length];
    gateway.journal.hasRoom = false;
    const refused = await gateway.chat(key.secret);
    await refused.text();
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '1']);
    const unready = await gateway.fetch('/readyz');
    assert.equal(unready.status, 503);
    assert.deepEqual(await unready.json(), { status: 'not ready', missing: ['the disk is nearly full'] });
    assert.deepEqual([gateway.journal.records.length, provider.asked.length], [records, asked]);
    gateway.journal.hasRoom = true;
    assert.deepEqual(await send(gateway, key.secret, 1), { 200: 1 });
    assert.equal((await gateway.fetch('/readyz')).status, 200);
  });

  it('401 for keys that nobody knows leaves no row, and few lines', async () => {
    const { journal, logged } = bench.gateway;
    const [records, lines] = [journal.records.length, logged.length];
    assert.deepEqual(await send(bench.gateway, 'sk_svc_unknown', 500), { 401: 500 });
    bench.gateway.time.fire(10_000);
    assert.equal(journal.records.length, records);
    const written = logged.slice(lines);
    assert.ok(written.length <= 62, `${written.length} lines`);
    assert.equal(
      written.reduce((total, line) => total + Number(line['requests'] ?? 1), 0),
      500,
    );
  });
});
