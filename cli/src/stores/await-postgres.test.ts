import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '@gatehouse/concurrency';
import { startPostgresProxy } from '@gatehouse/gateway/testing';
import {
  type Database,
  DatabaseUnavailable,
  type NoParameters,
  openDatabase,
  sql,
  statement,
} from '@gatehouse/store';
import { useTestDatabase } from '@gatehouse/store/testing';
import { pino } from 'pino';
import { awaitPostgres } from './await-postgres.ts';

const ping = statement<NoParameters>('await-ping', sql`SELECT`);

describe('a start before PostgreSQL', async () => {
  const test = await useTestDatabase();
  let lines: { readonly event: string; readonly err?: { readonly message: string } }[] = [];
  const log = pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line)) });

  /** A clock on which every pause ends at once. */
  const clockOf = (onSleep: (pauses: number) => Promise<void> | void) => {
    let nowMs = 0;
    let pauses = 0;
    return {
      monotonicMs: () => nowMs,
      async sleep(ms: number) {
        nowMs += ms;
        pauses += 1;
        await onSleep(pauses);
      },
    };
  };

  const ask = (database: Database) => () => database.run(ping);

  it('waits for it, and says so', async () => {
    lines = [];
    await using proxy = await startPostgresProxy(test.address);
    await proxy.cut();
    await using database = openDatabase(proxy.address);
    const clock = clockOf(async (pauses) => {
      if (pauses === 3) await proxy.restore();
    });
    await awaitPostgres(ask(database), { timeoutMs: 60_000, log, clock });
    assert.deepEqual(
      lines.map(({ event }) => event),
      ['postgres.awaited', 'postgres.awaited', 'postgres.awaited', 'postgres.reached'],
    );
    assert.match(lines[0]?.err?.message ?? '', /ECONNREFUSED/);
  });

  it('begins again when it is lost before all is done, and returns what was prepared', async () => {
    lines = [];
    await using proxy = await startPostgresProxy(test.address);
    await using database = openDatabase(proxy.address);
    let begun = 0;
    const prepare = async () => {
      begun += 1;
      await database.run(ping);
      if (begun === 1) await proxy.cut();
      await database.run(ping);
      return begun;
    };
    const clock = clockOf(() => proxy.restore());
    assert.equal(await awaitPostgres(prepare, { timeoutMs: 60_000, log, clock }), 2);
    assert.deepEqual(
      lines.map(({ event }) => event),
      ['postgres.awaited', 'postgres.reached'],
    );
  });

  it('ends when the time is over, or when it is told to', async () => {
    await using proxy = await startPostgresProxy(test.address);
    await proxy.cut();
    await using database = openDatabase(proxy.address);
    const waiting = awaitPostgres(ask(database), { timeoutMs: 30_000, log, clock: clockOf(() => undefined) });
    await assert.rejects(waiting, (error: Error) => {
      assert.ok(error instanceof DatabaseUnavailable);
      assert.equal(error.message, 'PostgreSQL did not answer within 30 s (START_TIMEOUT)');
      assert.match(String(error.cause), /ECONNREFUSED/);
      return true;
    });
    const stopping = new AbortController();
    const stopped = awaitPostgres(ask(database), {
      ...{ timeoutMs: 60_000, log, signal: stopping.signal },
      clock: clockOf(() => stopping.abort()),
    });
    await assert.rejects(stopped, /^DatabaseUnavailable: stopped while waiting for PostgreSQL$/);
  });

  it('does not wait for what does not change', async () => {
    lines = [];
    if (!('host' in test.address)) return assert.fail('expected the parts of an address');
    await using unknown = openDatabase({ ...test.address, database: 'no_such_database' });
    await assert.rejects(awaitPostgres(ask(unknown), { timeoutMs: 60_000, log, clock: systemClock }), {
      code: '3D000',
    });
    await using proxy = await startPostgresProxy(test.address);
    if (!('host' in proxy.address)) return assert.fail('expected the parts of an address');
    const { host, port, user, database } = proxy.address;
    await using encrypted = openDatabase({
      url: `postgres://${user}@${host}:${port}/${database}?sslmode=require`,
    });
    await assert.rejects(
      awaitPostgres(ask(encrypted), { timeoutMs: 60_000, log }),
      /PostgreSQL cannot be used right now/,
    );
    assert.deepEqual(lines, []);
  });
});
