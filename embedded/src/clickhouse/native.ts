/**
 * The part of chDB's native binding that the engine process uses, typed.
 *
 * The package's public `Session` is not used: it closes no session before every running query of the process has ended
 * (under one slow query the finished sessions pile up), it parses parameters one at a time, and its insert has a fixed
 * list of formats. The binding underneath has none of these limits. It is loaded through the package's own loader. The
 * package's version is pinned, because the binding's names are not a stable interface.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

declare const connectionBrand: unique symbol;
declare const streamBrand: unique symbol;
export type Connection = { readonly [connectionBrand]: true };
export type ResultStream = { readonly [streamBrand]: true };

export type NativeResult = {
  readonly bytes: Uint8Array;
  readonly elapsed: number;
  readonly rowsRead: number;
  readonly bytesRead: number;
};

export type NativeInsertResult = {
  readonly elapsed: number;
  readonly rowsWritten: number;
  readonly bytesWritten: number;
};

export type NativeChunk = { readonly bytes: Uint8Array; readonly numRows: number; readonly done: boolean };

export type NativeEngine = {
  /** Synchronous. Throws when another process holds the directory; the reason (code 76) goes to standard error. */
  CreateConnection(path: string, args: readonly string[]): Connection;
  /** Never while an operation still runs on the connection: that aborts the engine for the whole process. */
  CloseConnection(connection: Connection): void;
  /** Runs the text on a thread of libuv's pool. The result is whole, outside the engine's own memory accounting. */
  QueryAsyncConnection(connection: Connection, sql: string, format: string): Promise<NativeResult>;
  InsertRawAsyncConnection(
    connection: Connection,
    prefix: string,
    rows: Uint8Array,
    countLines: false,
  ): Promise<NativeInsertResult>;
  /** Parses and plans on the calling thread, where a scalar subquery is also computed; the rest runs in fetches. */
  StreamQuery(connection: Connection, sql: string, format: string): ResultStream;
  StreamFetch(stream: ResultStream): Promise<NativeChunk>;
  /** Only between fetches. */
  StreamCancel(stream: ResultStream): void;
};

/** Loads the native library (about 150 MB of mapped file). Throws where chDB is not installed or has no build for this platform. */
export function loadNativeEngine(): NativeEngine {
  const require = createRequire(import.meta.url);
  const loader = require(join(dirname(packageEntry(require)), 'dist', 'loader.js'));
  return loader.loadNative();
}

/** Images and machines with external stores leave the package out (setup/prune.mjs). */
function packageEntry(require: NodeJS.Require): string {
  try {
    return require.resolve('chdb');
  } catch {
    throw new Error('the package chdb is not installed; set CLICKHOUSE_URL to use a ClickHouse server');
  }
}
