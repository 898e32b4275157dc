/**
 * The embedded ClickHouse engine: a process of its own, because the library blocks threads, can crash, and stops
 * reliably only when its process ends.
 *
 *     engine-main.ts <data directory> <socket path> <memory limit in bytes>
 *
 * The engine's own lock on the directory decides which process serves it. Only the holder of the lock touches the
 * socket, so a stale socket can be removed without a race, and a process that loses the lock to one that answers exits.
 * When the IPC channel to the leader closes, the leader is dead, however it died, and the engine ends too. The engine
 * ignores the terminal's signals; its leader decides.
 *
 * It is started with UV_THREADPOOL_SIZE=8: each running query holds a thread of that pool, and so does each KILL QUERY.
 */
import { chmodSync, rmSync } from 'node:fs';
import { systemClock } from '@gatehouse/concurrency';
import type { OpenEngine } from './engine-call.ts';
import { createEngineServer, type EngineServer } from './engine-server.ts';
import { pingEngine } from './engine-status.ts';
import { EXIT } from './exit-codes.ts';
import { type Connection, loadNativeEngine, type NativeEngine } from './native.ts';

const LOCK_TIMEOUT_MS = 15_000;
const LOCK_RETRY_MS = 50;
/** How long running calls may go on after SIGTERM, and after the leader has died. */
const STOP_TIMEOUT_MS = 5_000;
const ORPHAN_STOP_TIMEOUT_MS = 2_000;

const [dataDirectory = '', socketPath = '', memoryLimitBytes = '0'] = process.argv.slice(2);

/**
 * Caches and pools for one modest node. The defaults suit a machine that only runs ClickHouse: 5 GB for marks,
 * 5 GB for primary keys, 10,000 threads.
 */
const CONNECTION_ARGS = [
  `--max_server_memory_usage=${memoryLimitBytes}`,
  `--mark_cache_size=${64 * 1024 ** 2}`,
  `--primary_index_cache_size=${64 * 1024 ** 2}`,
  `--index_mark_cache_size=${1024 ** 2}`,
  '--uncompressed_cache_size=0',
  `--query_condition_cache_size=${8 * 1024 ** 2}`,
  `--compiled_expression_cache_size=${8 * 1024 ** 2}`,
  '--mmap_cache_size=64',
  '--max_thread_pool_size=256',
  '--max_thread_pool_free_size=8',
  '--background_pool_size=2',
  '--background_schedule_pool_size=1',
  // Values of parameters count as text of a statement here, which they do not on a server; the URL limits them.
  `--max_query_size=${8 * 1024 ** 2}`,
];

let server: EngineServer | undefined;
let isStopping = false;

async function main(): Promise<void> {
  process.title = 'gatehouse-clickhouse';
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGQUIT']) process.on(signal, () => {});
  process.on('SIGTERM', () => void stop(STOP_TIMEOUT_MS));
  if (process.send !== undefined) process.on('disconnect', () => void stop(ORPHAN_STOP_TIMEOUT_MS));
  if ((await pingEngine(socketPath)) !== null) process.exit(EXIT.follower);
  const native = load();
  const firstConnection = await openDirectory(native);
  restoreCrashSignals();
  const engine = await openEngine(native, firstConnection);
  server = createEngineServer(engine);
  rmSync(socketPath, { force: true });
  await listen(server);
  process.send?.({ ready: true });
}

function load(): NativeEngine {
  try {
    return loadNativeEngine();
  } catch (error) {
    return exitWith(EXIT.unsupported, error);
  }
}

/** The first connection opens the directory and stays open: the engine closes the directory with its last connection. */
async function openDirectory(native: NativeEngine): Promise<Connection> {
  const deadline = systemClock.monotonicMs() + LOCK_TIMEOUT_MS;
  for (;;) {
    try {
      return native.CreateConnection(dataDirectory, CONNECTION_ARGS);
    } catch (error) {
      if ((await pingEngine(socketPath)) !== null) process.exit(EXIT.follower);
      if (systemClock.monotonicMs() > deadline) exitWith(EXIT.cannotOpen, error);
    }
    await systemClock.sleep(LOCK_RETRY_MS);
  }
}

/**
 * Opening installs handlers for crash signals that keep the broken process, its lock and its clients for minutes, while
 * they wait for a logger that an embedded engine does not have. Adding and removing a listener restores the system's
 * default: the process ends at once, and the next one replaces it.
 */
function restoreCrashSignals(): void {
  const listener = () => {};
  for (const signal of ['SIGSEGV', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGABRT', 'SIGTRAP', 'SIGSYS'] as const) {
    process.on(signal, listener);
    process.off(signal, listener);
  }
}

async function openEngine(native: NativeEngine, connection: Connection): Promise<OpenEngine> {
  const answer = await native.QueryAsyncConnection(connection, 'SELECT version()', 'TSV');
  const version = Buffer.from(answer.bytes).toString().trim();
  return { native, version, connect: () => native.CreateConnection(dataDirectory, CONNECTION_ARGS) };
}

async function listen(engineServer: EngineServer): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  engineServer.http.once('error', reject);
  engineServer.http.listen(socketPath, resolve);
  await promise;
  chmodSync(socketPath, 0o600);
}

/**
 * Lets running calls end, stops the remaining reads after half of the time, and exits. An exit waits for a running
 * query, so when the time is over the process kills itself; that loses nothing that was acknowledged.
 */
async function stop(timeoutMs: number): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), timeoutMs);
  if (server !== undefined) {
    server.close();
    setTimeout(() => server?.abortReads(), timeoutMs / 2);
    await server.idle();
  }
  process.exit(EXIT.stopped);
}

function exitWith(code: number, error: unknown): never {
  // The leader reads the last line; that of a module that is missing is one of its requirers.
  const text = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${text.replaceAll(/\s*\n\s*/g, ' ')}\n`);
  process.exit(code);
}

main().catch((error: unknown) => exitWith(EXIT.cannotOpen, error));
