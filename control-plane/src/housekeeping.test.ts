import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { describe, it } from 'node:test';
import { createTestDatabase, createTestTelemetry } from '@gatehouse/store/testing';
import { pino } from 'pino';
import { applyRetention, startHousekeeping } from './housekeeping.ts';
import { startBrokenTelemetry } from './testing/broken-telemetry.ts';
import { addRequests, requestRow } from './testing/requests.ts';
import { sql } from './testing/sql.ts';
import { watchedTelemetry } from './testing/watched-telemetry.ts';

describe('housekeeping', () => {
  it('applies retention at its start, and is done before it has stopped', async () => {
    await using test = await createTestDatabase();
    const lines: Record<string, unknown>[] = [];
    const log = pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line)) });
    const newLog = async () => {
      const name = randomUUID();
      const [row] = await sql<{ id: string }>(
        test.database,
        'INSERT INTO organizations (name, name_key) VALUES ($1, $1) RETURNING id',
        [name],
      );
      const id = row?.id ?? assert.fail();
      for (const target of ['a', 'b', 'c'])
        await sql(test.database, `SELECT append_activity($1, NULL, 'org.renamed', $2, '::1')`, [id, target]);
      return id;
    };
    const [old, tampered, young] = [await newLog(), await newLog(), await newLog()];
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

    await using telemetry = await createTestTelemetry();
    const household = { database: test.database, telemetry: telemetry.client, log, signInWindowSeconds: 900 };
    await startHousekeeping({ ...household, telemetryRetentionDays: undefined })[Symbol.asyncDispose]();
    const left = await sql(
      test.database,
      'SELECT organization_id, count(*) AS count FROM activity_events GROUP BY 1',
    );
    assert.deepEqual(
      new Map(left.map((row) => [row['organization_id'], row['count']])),
      new Map([
        [old, 2n],
        [tampered, 3n],
        [young, 3n],
      ]),
    );
    const told = lines.map(({ level, organization_id, removed, sequence }) => ({
      level,
      organization_id,
      removed,
      sequence,
    }));
    assert.deepEqual(told, [
      { level: 30, organization_id: old, removed: 1, sequence: undefined },
      { level: 50, organization_id: tampered, removed: undefined, sequence: 1 },
    ]);
    // What is broken is told again each time.
    await applyRetention(test.database, log);
    assert.equal(lines.length, 3);
  });

  it('keeps the telemetry store in order from its start, and tells what it did', async () => {
    await using test = await createTestDatabase();
    await using telemetry = await createTestTelemetry();
    const keyId = randomUUID();
    // Waits until no insert holds it any more: until then it could not be attached again.
    await telemetry.client.command({ query: 'DETACH TABLE key_last_used_from_request_log SYNC' });
    const timestampMicros = BigInt(Date.UTC(2020, 1, 29)) * 1000n;
    await addRequests(telemetry, [requestRow({ organizationId: randomUUID(), keyId, timestampMicros })]);
    await telemetry.client.command({ query: 'ATTACH TABLE key_last_used_from_request_log' });
    const { log, until } = watchedLog();
    const household = { database: test.database, telemetry: telemetry.client, log, signInWindowSeconds: 900 };
    await using _ = startHousekeeping({ ...household, telemetryRetentionDays: 365 });
    const [repaired, dropped] = [await until('it is right again'), await until('no longer kept')];
    assert.deepEqual([repaired['level'], repaired['keys']], [30, 1]);
    assert.deepEqual([dropped['level'], dropped['month'], dropped['requests']], [30, '2020-02', 1]);
  });

  it('warns in one line while the telemetry store is away', async () => {
    await using test = await createTestDatabase();
    await using broken = await startBrokenTelemetry('hangs up');
    const { log, lines, until } = watchedLog();
    const household = { database: test.database, telemetry: broken.client, log, signInWindowSeconds: 900 };
    {
      await using _ = startHousekeeping({ ...household, telemetryRetentionDays: 30 });
      assert.equal((await until('could not be kept in order'))['level'], 40);
    }
    assert.equal(lines.length, 1);
  });

  it('tries again what failed, before its time', async () => {
    await using test = await createTestDatabase();
    await using telemetry = await createTestTelemetry();
    await using broken = await startBrokenTelemetry('hangs up');
    const timestampMicros = BigInt(Date.UTC(2020, 1, 29)) * 1000n;
    await addRequests(telemetry, [requestRow({ organizationId: randomUUID(), timestampMicros })]);
    const { log, lines, until } = watchedLog();
    const household = {
      database: test.database,
      telemetry: watchedTelemetry(telemetry.client, (question) =>
        question > 2 ? telemetry.client : broken.client,
      ),
      log,
      signInWindowSeconds: 900,
      telemetryRetentionDays: 365,
    };
    {
      await using _ = startHousekeeping(household, 1);
      await until('no longer kept');
    }
    assert.deepEqual(
      lines.map(({ level }) => level),
      [40, 40, 30],
    );
  });
});

/** A log whose lines can be waited for. */
function watchedLog() {
  const lines: Record<string, unknown>[] = [];
  const news = new EventEmitter();
  const write = (line: string) => {
    lines.push(JSON.parse(line));
    news.emit('line');
  };
  return {
    log: pino({ base: null }, { write }),
    lines,
    async until(words: string): Promise<Record<string, unknown>> {
      for (;;) {
        const found = lines.find(({ msg }) => String(msg).includes(words));
        if (found) return found;
        await once(news, 'line');
      }
    },
  };
}
