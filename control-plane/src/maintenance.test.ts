import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { TelemetryClient } from '@gatehouse/store';
import {
  createTestDatabase,
  createTestTelemetry,
  runSql,
  type TestDatabase,
  type TestTelemetry,
} from '@gatehouse/store/testing';
import { pino } from 'pino';
import { applyRetention, startMaintenance } from './maintenance.ts';
import { startBrokenTelemetry } from './testing/broken-telemetry.ts';
import { addRequests, requestRow } from './testing/requests.ts';
import { watchedTelemetry } from './testing/watched-telemetry.ts';

const EVENT_TIMEOUT_MS = 60_000;

describe('maintenance', () => {
  let test: TestDatabase;
  let telemetry: TestTelemetry;
  let logged: WatchedLog;
  before(async () => {
    telemetry = await createTestTelemetry();
  });
  after(() => telemetry?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    logged = watchLog();
    test = await createTestDatabase();
  });
  afterEach(() => test?.[Symbol.asyncDispose]());

  const start = (client: TelemetryClient, telemetryRetentionDays: number | undefined, retryMs?: number) =>
    startMaintenance(
      {
        database: test.database,
        telemetry: client,
        log: logged.log,
        signInWindowSeconds: 900,
        telemetryRetentionDays,
      },
      retryMs,
    );
  const addOldRequest = (keyId: string | null) =>
    addRequests(telemetry, [
      requestRow({
        organizationId: randomUUID(),
        keyId,
        startedAtMicros: BigInt(Date.UTC(2020, 1, 29)) * 1000n,
      }),
    ]);

  it('applies the activity log’s retention at start, and completes it before it stops', async () => {
    const createLog = async () => {
      const name = randomUUID();
      const [row] = await runSql<{ id: string }>(test.database)`
        INSERT INTO organizations (name, name_key) VALUES (${name}, ${name}) RETURNING id`;
      const id = row?.id ?? assert.fail();
      for (const target of ['a', 'b', 'c'])
        await runSql(test.database)`SELECT append_activity(${id}, NULL, 'org.renamed', ${target}, '::1')`;
      return id;
    };
    const [old, tampered, young] = [await createLog(), await createLog(), await createLog()];
    const owner = await test.owner.connect();
    await owner.query(`SET session_replication_role = 'replica'`);
    await owner.query(
      `UPDATE activity_events SET occurred_at = occurred_at - interval '2 years',
         hash = activity_entry_hash(decode(repeat('00', 32), 'hex'), organization_id, sequence, actor_user_id, action,
                                    target, source_ip, occurred_at - interval '2 years')
       WHERE organization_id = $1 AND sequence = 1`,
      [old],
    );
    await owner.query(
      `UPDATE activity_events SET occurred_at = occurred_at - interval '2 years' WHERE organization_id = $1`,
      [tampered],
    );
    await owner.end();

    await start(telemetry.client, undefined)[Symbol.asyncDispose]();
    const remaining = await runSql(test.database)`
      SELECT organization_id, count(*) AS count FROM activity_events GROUP BY 1`;
    assert.deepEqual(
      new Map(remaining.map((row) => [row['organizationId'], row['count']])),
      new Map([
        [old, 2n],
        [tampered, 3n],
        [young, 3n],
      ]),
    );
    const expected = [
      { level: 30, event: 'activity.entries_removed', organization_id: old, removed: 1 },
      { level: 50, event: 'activity.entry_tampered', organization_id: tampered, sequence: 1 },
    ];
    assert.deepEqual(
      logged.lines.map(({ time: _time, msg: _msg, ...fields }) => fields),
      expected,
    );
    // A tampered entry is reported on every run.
    await applyRetention(test.database, logged.log);
    assert.equal(logged.lines.length, 3);
  });

  it('repairs last_used_at and drops old months at start, and logs both', async () => {
    // Waits until no insert uses the view: until then it could not be attached again.
    await telemetry.client.command({ query: 'DETACH TABLE key_last_used_from_request_log SYNC' });
    await addOldRequest(randomUUID());
    await telemetry.client.command({ query: 'ATTACH TABLE key_last_used_from_request_log' });
    await using _ = start(telemetry.client, 365);
    const repaired = await logged.until('telemetry.last_used_repaired');
    const dropped = await logged.until('telemetry.month_dropped');
    assert.deepEqual([repaired['level'], repaired['keys']], [30, 1]);
    assert.deepEqual([dropped['level'], dropped['month'], dropped['requests']], [30, '2020-02', 1]);
  });

  it('logs one warning per failed run', async () => {
    await using broken = await startBrokenTelemetry('hangs up');
    {
      await using _ = start(broken.client, 30);
      const failed = await logged.until('maintenance.job_failed');
      assert.deepEqual([failed['level'], failed['job']], [40, 'telemetry_retention']);
    }
    assert.equal(logged.lines.length, 1);
  });

  it('retries a failed job after the retry interval, not the job’s own', async () => {
    await using broken = await startBrokenTelemetry('hangs up');
    await addOldRequest(null);
    const failsTwice = watchedTelemetry(telemetry.client, (query) =>
      query > 2 ? telemetry.client : broken.client,
    );
    {
      await using _ = start(failsTwice, 365, 1);
      await logged.until('telemetry.month_dropped');
    }
    assert.deepEqual(
      logged.lines.map(({ level }) => level),
      [40, 40, 30],
    );
  });
});

interface WatchedLog {
  readonly log: pino.Logger;
  readonly lines: Record<string, unknown>[];
  /** The first line with this `event`, once it is logged. Throws after EVENT_TIMEOUT_MS. */
  until(event: string): Promise<Record<string, unknown>>;
}

function watchLog(): WatchedLog {
  const lines: Record<string, unknown>[] = [];
  const news = new EventEmitter();
  const write = (line: string) => {
    lines.push(JSON.parse(line));
    news.emit('line');
  };
  return {
    log: pino({ base: null }, { write }),
    lines,
    async until(event) {
      const signal = AbortSignal.timeout(EVENT_TIMEOUT_MS);
      for (;;) {
        const found = lines.find((line) => line['event'] === event);
        if (found) return found;
        await once(news, 'line', { signal }).catch((cause: unknown) => {
          throw new Error(`no log line with event ${event} within ${EVENT_TIMEOUT_MS} ms`, { cause });
        });
      }
    },
  };
}
