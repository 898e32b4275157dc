import { AsyncLocalStorage } from 'node:async_hooks';
import files, { type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { systemClock } from '@gatehouse/concurrency';
import type { Database, Queryable, Transaction } from '@gatehouse/store';
import type { FinishedRequest } from '../finished-request.ts';
import type { JournalClock } from '../journal.ts';

/**
 * Crashes without a process each. Code that runs inside a SimulatedProcess has every file operation, database statement
 * and telemetry call counted: one point before it, one after it, and one in the middle of a write. At the chosen point
 * the process crashes: no operation that it starts or waits for from then on returns, which is all that a killed process
 * shows to others, and what it had done by then stays done.
 */
export class SimulatedProcess {
  readonly #crashed = Promise.withResolvers<void>();
  #countdown: number;
  #isCrashed = false;
  readonly #crashSignal = new AbortController();
  readonly #files = new Set<FileHandle>();
  points = 0;
  /** The file operations so far, by name. */
  readonly trace: string[] = [];
  /** If set, writes fail after this many bytes as on a full disk, and truncating fails too unless allowed. */
  disk: { bytesLeft: number; mayTruncate: boolean } | undefined;

  /** Crashes at this point, counted from 1; only by `crash()` if undefined. */
  constructor(crashAt: number = Number.POSITIVE_INFINITY) {
    this.#countdown = crashAt;
  }

  get isCrashed(): boolean {
    return this.#isCrashed;
  }

  get crashed(): Promise<void> {
    return this.#crashed.promise;
  }

  run<T>(work: () => T): T {
    patchFiles();
    return current.run(this, work);
  }

  crash(): void {
    this.#isCrashed = true;
    this.#crashed.resolve();
    this.#crashSignal.abort();
    for (const file of this.#files) void file.close().catch(() => undefined);
  }

  /** Crashes at this point, counted from now. */
  crashAfter(points: number): void {
    this.#countdown = points;
  }

  /** The file is closed when the process crashes. */
  opened(file: FileHandle): void {
    this.#files.add(file);
    if (this.#isCrashed) void file.close().catch(() => undefined);
  }

  /** The system's clock, whose sleeps never end once the process has crashed. */
  readonly clock: JournalClock = {
    ...systemClock,
    sleep: async (ms, signal) => {
      await systemClock.sleep(
        ms,
        signal ? AbortSignal.any([signal, this.#crashSignal.signal]) : this.#crashSignal.signal,
      );
      if (this.#isCrashed) await never();
    },
  };

  /** False if the process crashes at this point, or has crashed before. */
  passesPoint(): boolean {
    this.points += 1;
    this.#countdown -= 1;
    if (this.#countdown === 0) this.crash();
    return !this.#isCrashed;
  }

  async operation<T>(work: () => Promise<T>): Promise<T> {
    if (!this.passesPoint()) return never();
    const result = await work().catch((error: unknown) => {
      if (this.#isCrashed) return never<T>();
      throw error;
    });
    return this.passesPoint() ? result : never();
  }

  /** The database of this process: a crash ends its connections, so the server rolls back. */
  database(outside: Database): Database {
    const watched = <Q extends Queryable>(queryable: Q): Q => ({
      ...queryable,
      many: (...call) => this.#statement(() => queryable.many(...call)),
      one: (...call) => this.#statement(() => queryable.one(...call)),
      run: (...call) => this.#statement(() => queryable.run(...call)),
    });
    return {
      ...watched(outside),
      transaction: (work) =>
        this.operation(() => outside.transaction((tx: Transaction) => work(watched(tx)))),
    };
  }

  telemetry(ship: (rows: FinishedRequest[], token: string) => Promise<void>): typeof ship {
    return (rows, token) => this.operation(() => ship(rows, token));
  }

  async #statement<T>(work: () => Promise<T>): Promise<T> {
    if (!this.passesPoint()) throw new Error('the process of this connection has crashed');
    const result = await work();
    if (!this.passesPoint()) throw new Error('the process of this connection has crashed');
    return result;
  }
}

const current = new AsyncLocalStorage<SimulatedProcess>();

function never<T>(): Promise<T> {
  return new Promise(() => undefined);
}

let isPatched = false;

// The asynchronous context tells which process code runs in, so code outside of one is not affected.
function patchFiles(): void {
  if (isPatched) return;
  isPatched = true;
  for (const name of ['rename', 'unlink', 'mkdir', 'rmdir', 'readdir', 'readFile', 'utimes'] as const) {
    const original = files[name] as (...args: unknown[]) => Promise<unknown>;
    const watched = (...args: unknown[]) => {
      const simulated = current.getStore();
      simulated?.trace.push(name);
      return simulated ? simulated.operation(() => original(...args)) : original(...args);
    };
    Object.assign(files, { [name]: watched });
  }
  const originalOpen = files.open;
  files.open = async (...args) => {
    const simulated = current.getStore();
    if (!simulated) return originalOpen(...args);
    return simulated.operation(async () => {
      const file = await originalOpen(...args);
      patchHandle(Object.getPrototypeOf(file));
      simulated.opened(file);
      return file;
    });
  };
  syncBuiltinESMExports();
}

type Write = (
  bytes: Buffer,
  offset: number,
  length: number,
  position: number,
) => Promise<{ bytesWritten: number }>;

let isHandlePatched = false;

function patchHandle(prototype: FileHandle): void {
  if (isHandlePatched) return;
  isHandlePatched = true;
  const write = prototype.write as unknown as Write;
  const { truncate, datasync } = prototype;
  const watchedWrite = async function (
    this: FileHandle,
    ...[bytes, offset, length, position]: Parameters<Write>
  ) {
    const simulated = current.getStore();
    if (!simulated) return write.call(this, bytes, offset, length, position);
    simulated.trace.push('write');
    return simulated.operation(async () => {
      const room = Math.min(length, simulated.disk?.bytesLeft ?? length);
      const half = Math.floor(room / 2);
      if (half > 0) await write.call(this, bytes, offset, half, position);
      if (!simulated.passesPoint()) return never<{ bytesWritten: number }>();
      if (room > half) await write.call(this, bytes, offset + half, room - half, position + half);
      if (simulated.disk) simulated.disk.bytesLeft -= room;
      if (room === 0 && length > 0) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
      return { bytesWritten: room };
    });
  };
  prototype.write = watchedWrite as unknown as FileHandle['write'];
  prototype.truncate = async function (length) {
    const simulated = current.getStore();
    if (simulated?.disk?.mayTruncate === false) throw Object.assign(new Error('i/o error'), { code: 'EIO' });
    return simulated ? simulated.operation(() => truncate.call(this, length)) : truncate.call(this, length);
  };
  prototype.datasync = async function () {
    const simulated = current.getStore();
    return simulated ? simulated.operation(() => datasync.call(this)) : datasync.call(this);
  };
}
