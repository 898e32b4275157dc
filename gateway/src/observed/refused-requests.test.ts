import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, it } from 'node:test';
import type { FinishedRequest } from '../journal/finished-request.ts';
import { encodeLine } from '../journal/record-line.ts';
import { finished, type LogLine, memoryLog } from '../journal/testing/fixtures.ts';
import { createManualTime, type ManualTime } from '../testing/manual-time.ts';
import { createMemoryJournal, type MemoryJournal } from '../testing/memory-journal.ts';
import { RefusedRequests } from './refused-requests.ts';

const account = {
  organizationId: randomUUID(),
  projectId: randomUUID(),
  keyIds: [randomUUID(), randomUUID()],
};
const INTERVAL_MS = 10_000;

describe('RefusedRequests', () => {
  let time: ManualTime;
  let journal: MemoryJournal;
  let refused: RefusedRequests;
  let lines: LogLine[];

  const start = (mostCounts = 100) => {
    time = createManualTime();
    journal = createMemoryJournal();
    const logged = memoryLog();
    lines = logged.lines;
    refused = new RefusedRequests({
      journal,
      ...time,
      log: logged.log,
      limits: { singlesOfKey: 2, singles: 3, counts: 4 },
      mostCounts,
    });
  };
  beforeEach(() => start());

  const request = (changes: Partial<FinishedRequest> = {}): FinishedRequest => ({
    ...finished(account),
    startedAtMicros: BigInt(time.clock.epochMs()) * 1000n,
    status: 429,
    refusal: 'rate_limit_exceeded',
    totalMs: 2,
    preDispatchMs: 2,
    costMicroPkr: 0n,
    ...changes,
  });
  /** As the gateway does it: what is not counted is a row of its own. */
  const take = async (changes: Partial<FinishedRequest> = {}) => {
    const one = request(changes);
    if (!refused.count(one)) await journal.append(one);
    return one;
  };
  const counts = () => journal.records.map(({ requestCount = 1 }) => requestCount);
  const flushed = async () => {
    await refused.flush();
    return journal.records.splice(0);
  };

  it('leaves some a minute alone, and makes one row of all others in ten seconds', async () => {
    const all = [];
    for (let n = 0; n < 1_000; n += 1) {
      time.advance(1);
      all.push(await take({ totalMs: n, userAgent: 'u' }));
    }
    assert.deepEqual(counts(), [1, 1]);
    time.fire(INTERVAL_MS - 3);
    await journal.count(3);
    assert.deepEqual(counts(), [1, 1, 998]);
    const row = journal.records[2];
    assert.deepEqual(row, {
      ...request(),
      requestId: all[2]?.requestId,
      startedAtMicros: all[999]?.startedAtMicros,
      totalMs: (2 + 999) / 2,
      userAgent: 'u',
      requestCount: 998,
    });
    assert.equal(refused.size, 0);
    assert.equal(time.pending, 0);
  });

  it('never counts together what lies in two intervals, and so never what lies in two minutes', async () => {
    for (let n = 0; n < 122; n += 1) {
      await take();
      time.advance(500);
    }
    const rows = await flushed();
    const sums = new Map<bigint, number>();
    for (const { startedAtMicros, requestCount = 1 } of rows) {
      const minute = startedAtMicros / 60_000_000n;
      sums.set(minute, (sums.get(minute) ?? 0) + requestCount);
    }
    // From 10:15:30 on, two a second.
    assert.deepEqual([...sums.values()], [60, 62]);
  });

  it('keeps apart keys, statuses, codes and endings', async () => {
    for (let n = 0; n < 2; n += 1) await take({ keyId: account.keyIds[1] ?? '' });
    const kinds = [
      {},
      { keyId: account.keyIds[1] ?? '' },
      { status: 402, refusal: 'key_credit_exhausted' },
      { status: 402, refusal: 'budget_exhausted' },
    ];
    // Of the first key one more is left alone.
    await take();
    for (let n = 0; n < 5; n += 1) for (const kind of kinds) await take(kind);
    const rows = (await flushed()).slice(3);
    assert.deepEqual(
      rows.map(({ keyId, status, refusal, requestCount }) => [keyId, status, refusal, requestCount]),
      kinds.map((kind) => {
        const { keyId, status, refusal } = request(kind);
        return [keyId, status, refusal, 5];
      }),
    );
  });

  it('names the model where all had the same, and none where they had not', async () => {
    for (let n = 0; n < 6; n += 1) await take({ model: 'a/one', upstreamModel: 'one' });
    const [, , same] = await flushed();
    assert.deepEqual([same?.model, same?.upstreamModel, same?.requestCount], ['a/one', 'one', 4]);
    for (const model of ['a/one', 'a/two', 'a/one']) await take({ model, upstreamModel: 'x' });
    const [mixed] = await flushed();
    assert.deepEqual([mixed?.model, mixed?.upstreamModel, mixed?.requestCount], ['', null, 3]);
  });

  it('says that all were streams only where all were', async () => {
    for (let n = 0; n < 4; n += 1) await take({ isStream: true });
    const [, , streams] = await flushed();
    assert.deepEqual([streams?.isStream, streams?.requestCount], [true, 2]);
    for (const isStream of [true, false, true]) await take({ isStream });
    const [mixed] = await flushed();
    assert.deepEqual([mixed?.isStream, mixed?.requestCount], [false, 3]);
  });

  it('never counts what costs something or holds credit', async () => {
    for (let n = 0; n < 50; n += 1) await take(n % 2 === 0 ? { isHeld: true } : { costMicroPkr: 1n });
    assert.equal(journal.records.length, 50);
    assert.equal(refused.size, 0);
  });

  it('counts without the key what an organisation with very many keys is refused, and loses none', async () => {
    for (let n = 0; n < 1_000; n += 1) await take({ keyId: randomUUID() });
    const rows = await flushed();
    assert.equal(rows.length, 3 + 4 + 1);
    assert.deepEqual(
      rows.map(({ requestCount = 1 }) => requestCount),
      [1, 1, 1, 1, 1, 1, 1, 993],
    );
    assert.deepEqual([rows[7]?.keyId, rows[7]?.projectId], [null, null]);
    // Another organisation has its own.
    const organizationId = randomUUID();
    assert.equal(refused.count(request({ organizationId })), false);
  });

  it('writes what is left when it is closed', async () => {
    for (let n = 0; n < 9; n += 1) await take();
    await refused.close();
    assert.deepEqual(counts(), [1, 1, 7]);
    assert.equal(time.pending, 0);
    assert.deepEqual(lines, []);
  });

  it('keeps what the journal does not take, and writes it with what came since', async () => {
    for (let n = 0; n < 9; n += 1) await take();
    journal.records.splice(0);
    journal.before = async () => {
      throw new Error('no space left');
    };
    await refused.flush();
    assert.deepEqual([refused.size, journal.records.length], [1, 0]);
    for (let n = 0; n < 5; n += 1) assert.ok(refused.count(request()));
    journal.before = async () => {};
    time.fire(INTERVAL_MS);
    await journal.count(1);
    assert.deepEqual(counts(), [12]);
    assert.deepEqual(
      lines.map(({ level, msg, rows }) => [level, msg, rows]),
      [[50, 'counts of refused requests not written; retrying', 1]],
    );
  });

  it('is bounded in memory: writes early, and says what is lost where the journal takes nothing for long', async () => {
    start(10);
    const organizations = Array.from({ length: 30 }, () => randomUUID());
    const all = async () => {
      // The third of each key is the first that is counted.
      for (const organizationId of organizations) {
        const changes = { organizationId };
        for (let n = 0; n < 3; n += 1) await take(changes);
      }
    };
    await all();
    await journal.count(80);
    assert.ok(refused.size <= 20);
    await refused.flush();
    assert.equal(counts().length, 90);

    time.advance(60_000);
    journal.before = async ({ requestCount }) => {
      if (requestCount !== undefined) throw new Error('no space left');
    };
    await all();
    await refused.flush();
    assert.equal(refused.size, 20);
    await refused.close();
    const lost = lines.filter(({ msg }) => msg === 'refused requests are missing from the request log');
    assert.equal(
      lost.reduce((sum, line) => sum + Number(line['requests']), 0),
      30,
    );
  });

  it('bounds what a row takes in the journal', () => {
    const worst = request({
      model: '\u0001'.repeat(200),
      userAgent: '"'.repeat(64),
      metadata: new Map(),
      refusal: 'r'.repeat(40),
      requestCount: 4_294_967_295,
    });
    assert.ok(encodeLine(worst).length < 2_560);
    const metadata = new Map(Array.from({ length: 32 }, (_, n) => [`${n}`.padStart(2, '0'), '"'.repeat(30)]));
    const worstOfOne = { ...worst, userAgent: '"'.repeat(512), metadata };
    assert.ok(encodeLine(worstOfOne).length < 6 * 1_024);
    assert.ok(encodeLine(request({ metadata: new Map() })).length < 800);
  });
});
