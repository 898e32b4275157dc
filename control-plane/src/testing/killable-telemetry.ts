import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedClickHouse } from '@gatehouse/embedded';
import { createTelemetryClient, DEFAULT_TELEMETRY_DATABASE, migrateTelemetry } from '@gatehouse/store';
import type { TestTelemetry } from '@gatehouse/store/testing';

/** A migrated telemetry store on an engine that nobody else needs. */
export interface KillableTelemetry extends TestTelemetry {
  /** Ends the engine as a crash would. Resolves once the next one is ready. */
  kill(): Promise<void>;
}

export async function startKillableTelemetry(): Promise<KillableTelemetry> {
  await using stack = new AsyncDisposableStack();
  const dataDir = stack.adopt(await mkdtemp(join(tmpdir(), 'gatehouse-engine-')), (path) =>
    rm(path, { recursive: true, force: true, maxRetries: 5 }),
  );
  const events = new EventEmitter();
  const engine = stack.use(
    await openEmbeddedClickHouse({ dataDir, onEvent: ({ kind }) => events.emit(kind) }),
  );
  await migrateTelemetry(engine);
  const client = stack.adopt(createTelemetryClient(engine), (opened) => opened.close());
  const open = stack.move();
  return {
    client,
    database: DEFAULT_TELEMETRY_DATABASE,
    async kill() {
      const ready = once(events, 'ready');
      process.kill(engine.enginePid() ?? assert.fail('no engine'), 'SIGKILL');
      await ready;
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
