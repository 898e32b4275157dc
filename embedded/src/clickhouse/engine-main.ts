/**
 * The embedded ClickHouse engine: a process of its own, because the library blocks threads, can crash, and can be
 * stopped for sure only by ending its process.
 *
 *     engine-main.ts <data directory> <socket path> <memory limit in bytes>
 *
 * The engine's own lock on the directory decides who serves it. Only the holder of the lock touches the socket, so a
 * stale socket can be removed without a race, and a process that loses the lock to one that answers leaves quietly.
 * The channel to the process that started it is the other lifeline: when it breaks, that process is gone, however it
 * died, and the engine ends too. It ignores the terminal's signals; its parent decides.
 *
 * It is started with UV_THREADPOOL_SIZE=8: each running query holds a thread of that pool, and so does each order to
 * stop one.
 */
import { chmodSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OpenEngine } from './engine-call.ts';
import { createEngineServer, type EngineServer } from './engine-server.ts';
import { EXIT } from './exit-codes.ts';
import { type Connection, loadNativeEngine, type NativeEngine } from './native.ts';
import { pingEngine } from './probe.ts';

const LOCK_PATIENCE_MS = 15_000;
const LOCK_RETRY_MS = 50;
/** For calls under way after SIGTERM, and after the parent has died. */
const STOP_PATIENCE_MS = 5_000;
const ORPHAN_PATIENCE_MS = 2_000;

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
let stopping = false;

async function main(): Promise<void> {
  process.title = 'gatehouse-clickhouse';
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGQUIT']) process.on(signal, () => {});
  process.on('SIGTERM', () => void stop(STOP_PATIENCE_MS));
  if (process.send !== undefined) process.on('disconnect', () => void stop(ORPHAN_PATIENCE_MS));
  if ((await pingEngine(socketPath)) !== null) process.exit(EXIT.guest);
  const native = load();
  const keeper = await openDirectory(native);
  dieOfCrashes();
  const engine = await describe(native, keeper);
  server = createEngineServer(engine);
  rmSync(socketPath, { force: true });
  await listen(server);
  process.send?.({ ready: true });
}

function load(): NativeEngine {
  try {
    return loadNativeEngine();
  } catch (error) {
    return leave(EXIT.unsupported, error);
  }
}

/** The first connection opens the directory and is kept: with the last one the engine would close it again. */
async function openDirectory(native: NativeEngine): Promise<Connection> {
  const deadline = Date.now() + LOCK_PATIENCE_MS;
  for (;;) {
    try {
      return native.CreateConnection(dataDirectory, CONNECTION_ARGS);
    } catch (error) {
      if ((await pingEngine(socketPath)) !== null) process.exit(EXIT.guest);
      if (Date.now() > deadline) leave(EXIT.cannotOpen, error);
    }
    await sleep(LOCK_RETRY_MS);
  }
}

/**
 * Opening installs handlers for crash signals that hold the broken process, its lock and its callers for minutes, while
 * they wait for a logger that an embedded engine does not have. Listening to a signal and ceasing to puts back the
 * system's own handling: the process ends at once, and the next one takes its place.
 */
function dieOfCrashes(): void {
  const listener = () => {};
  for (const signal of ['SIGSEGV', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGABRT', 'SIGTRAP', 'SIGSYS'] as const) {
    process.on(signal, listener);
    process.off(signal, listener);
  }
}

async function describe(native: NativeEngine, keeper: Connection): Promise<OpenEngine> {
  const answer = await native.QueryAsyncConnection(keeper, 'SELECT version()', 'TSV');
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
 * Lets calls under way end, stops what reads are left when the patience is half used, and leaves. The engine cannot
 * be left while a query runs (the exit would wait for it), so at the end of the patience the process kills itself;
 * that loses nothing that was acknowledged.
 */
async function stop(patienceMs: number): Promise<void> {
  if (stopping) return;
  stopping = true;
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), patienceMs);
  if (server !== undefined) {
    server.close();
    setTimeout(() => server?.abortReads(), patienceMs / 2);
    await server.idle();
  }
  process.exit(EXIT.stopped);
}

function leave(code: number, error: unknown): never {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(code);
}

main().catch((error: unknown) => leave(EXIT.cannotOpen, error));
