/**
 * For tests that kill or starve engines: an embedded engine of their own in a temporary directory. Tests that only need a
 * telemetry database take one of the run's shared engine instead (`@gatehouse/store/testing`).
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouseClient } from '@clickhouse/client';
import { identifyProcess } from '@gatehouse/concurrency';
import { createTelemetryClient, migrateTelemetry } from '@gatehouse/store';
import { type EmbeddedClickHouse, type EngineEvent, openEmbeddedClickHouse } from '../clickhouse/index.ts';

export type TestEngineDatabase = AsyncDisposable & {
  readonly database: string;
  readonly client: ClickHouseClient;
};

export type TestEngine = AsyncDisposable & {
  readonly dataDir: string;
  readonly engine: EmbeddedClickHouse;
  readonly events: readonly EngineEvent[];
  /** A client that names no database. */
  readonly client: ClickHouseClient;
  /** A new database with the schema, and a client that uses it; both are disposed with the engine. */
  createDatabase(): Promise<TestEngineDatabase>;
};

export async function openTestEngine(): Promise<TestEngine> {
  await using stack = new AsyncDisposableStack();
  const dataDir = stack.adopt(await mkdtemp(join(tmpdir(), 'gatehouse-telemetry-')), removeDirectory);
  const events: EngineEvent[] = [];
  const engine = stack.use(await openEmbeddedClickHouse({ dataDir, onEvent: (event) => events.push(event) }));
  const client = stack.use(createTelemetryClient(engine, { database: null }));
  const resources = stack.move();
  return {
    dataDir,
    engine,
    events,
    client,
    async createDatabase() {
      const database = `test_${randomBytes(6).toString('hex')}`;
      await migrateTelemetry(engine, { database });
      const own = createTelemetryClient(engine, { database });
      resources.use(own);
      return { database, client: own, [Symbol.asyncDispose]: () => own.close() };
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** An engine for all tests of the calling file, which is stopped after the last of them. */
export async function useTestEngine(): Promise<TestEngine> {
  const telemetry = await openTestEngine();
  after(() => telemetry[Symbol.asyncDispose]());
  return telemetry;
}

export async function removeDirectory(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 5 });
}

/** Polls until the answer is not undefined, null or false. @throws Error naming what was awaited */
export async function waitFor<Value>(
  what: string,
  poll: () => Value | Promise<Value>,
  timeoutMs = 60_000,
): Promise<Exclude<NonNullable<Value>, false>> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await poll();
    if (value !== undefined && value !== null && value !== false) {
      return value as Exclude<NonNullable<Value>, false>;
    }
    if (Date.now() > deadline) throw new Error(`${what}: not within ${timeoutMs} ms`);
    await sleep(10);
  }
}

/** False for a process that has ended, also before its exit status is collected. */
export function isRunning(pid: number): boolean {
  return identifyProcess(pid) !== undefined;
}
