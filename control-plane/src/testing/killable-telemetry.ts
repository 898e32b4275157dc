import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedClickHouse } from '@gatehouse/embedded';
import { createTelemetryClient, DEFAULT_TELEMETRY_DATABASE, migrateTelemetry } from '@gatehouse/store';
import type { TestTelemetry } from '@gatehouse/store/testing';

/** A migrated telemetry store on an engine of its own. */
export interface KillableTelemetry extends TestTelemetry {
  /** Kills the engine like a crash. Resolves once its successor is ready. */
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
