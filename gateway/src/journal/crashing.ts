import { AsyncLocalStorage } from 'node:async_hooks';
import files, { type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import type { Database, Queryable, Transaction } from '@gatehouse/store';
import type { FinishedRequest } from './finished-request.ts';
import { systemTiming, type Timing } from './timing.ts';

/**
 * Crashes for tests, without the cost of a process each. Code run inside a Universe has every file operation,
 * database statement and telemetry call counted, as one point before it and one after (and one in the middle of a
 * write). At the chosen point the universe dies: whatever it asks for from then on never comes back, which is all
 * that a killed process can do, and the world outside goes on with what had been done by then.
 */
export class Universe {
  readonly #death = Promise.withResolvers<void>();
  #countdown: number;
  #isDead = false;
  readonly #deathSignal = new AbortController();
  readonly #files = new Set<FileHandle>();
  points = 0;
  /** The file operations so far, by name. */
  readonly trace: string[] = [];
  /** When set, writes fail as on a full disk after this many bytes, and cutting off fails too if asked. */
  disk: { bytesLeft: number; mayTruncate: boolean } | undefined;

  /** Dies at the point of this number, counted from 1; never by itself when left out. */
  constructor(dieAt: number = Number.POSITIVE_INFINITY) {
    this.#countdown = dieAt;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  get death(): Promise<void> {
    return this.#death.promise;
  }

  run<T>(work: () => T): T {
    patchFiles();
    return current.run(this, work);
  }

  die(): void {
    this.#isDead = true;
    this.#death.resolve();
    this.#deathSignal.abort();
    for (const file of this.#files) void file.close().catch(() => undefined);
  }

  /** Dies at the point of this number, counted from now. */
  dieAfter(points: number): void {
    this.#countdown = points;
  }

  /** Its files are closed when it dies. */
  opened(file: FileHandle): void {
    this.#files.add(file);
    if (this.#isDead) void file.close().catch(() => undefined);
  }

  /** Time, which stands still for the dead. */
  readonly timing: Timing = {
    ...systemTiming,
    sleep: async (ms, signal) => {
      await systemTiming.sleep(ms, AbortSignal.any([signal, this.#deathSignal.signal]));
      if (this.#isDead) await never();
    },
  };

  /** True when the universe lives on past this point. */
  survives(): boolean {
    this.points += 1;
    this.#countdown -= 1;
    if (this.#countdown === 0) this.die();
    return !this.#isDead;
  }

  async operation<T>(work: () => Promise<T>): Promise<T> {
    if (!this.survives()) return never();
    const result = await work().catch((error: unknown) => {
      if (this.#isDead) return never<T>();
      throw error;
    });
    return this.survives() ? result : never();
  }

  /** The database as this universe sees it: its death ends the connection, so the server rolls back. */
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
    if (!this.survives()) throw new Error('the connection died with its process');
    const result = await work();
    if (!this.survives()) throw new Error('the connection died with its process');
    return result;
  }
}

const current = new AsyncLocalStorage<Universe>();

function never<T>(): Promise<T> {
  return new Promise(() => undefined);
}

let isPatched = false;

// A universe is known by the asynchronous context, so everything outside of one is untouched.
function patchFiles(): void {
  if (isPatched) return;
  isPatched = true;
  for (const name of ['rename', 'unlink', 'mkdir', 'rmdir', 'readdir', 'readFile', 'utimes'] as const) {
    const original = files[name] as (...args: unknown[]) => Promise<unknown>;
    const watched = (...args: unknown[]) => {
      const universe = current.getStore();
      universe?.trace.push(name);
      return universe ? universe.operation(() => original(...args)) : original(...args);
    };
    Object.assign(files, { [name]: watched });
  }
  const originalOpen = files.open;
  files.open = async (...args) => {
    const universe = current.getStore();
    if (!universe) return originalOpen(...args);
    return universe.operation(async () => {
      const file = await originalOpen(...args);
      patchHandle(Object.getPrototypeOf(file));
      universe.opened(file);
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
    const universe = current.getStore();
    if (!universe) return write.call(this, bytes, offset, length, position);
    universe.trace.push('write');
    return universe.operation(async () => {
      const room = Math.min(length, universe.disk?.bytesLeft ?? length);
      const half = Math.floor(room / 2);
      if (half > 0) await write.call(this, bytes, offset, half, position);
      if (!universe.survives()) return never<{ bytesWritten: number }>();
      if (room > half) await write.call(this, bytes, offset + half, room - half, position + half);
      if (universe.disk) universe.disk.bytesLeft -= room;
      if (room === 0 && length > 0) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
      return { bytesWritten: room };
    });
  };
  prototype.write = watchedWrite as unknown as FileHandle['write'];
  prototype.truncate = async function (length) {
    const universe = current.getStore();
    if (universe?.disk?.mayTruncate === false) throw Object.assign(new Error('i/o error'), { code: 'EIO' });
    return universe ? universe.operation(() => truncate.call(this, length)) : truncate.call(this, length);
  };
  prototype.datasync = async function () {
    const universe = current.getStore();
    return universe ? universe.operation(() => datasync.call(this)) : datasync.call(this);
  };
}

/** Looks again after every turn of the event loop until it is so. The test's own time limit bounds it. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setImmediate(resolve));
}

/** Numbers from 0 to 1 that a seed determines, so that a failing run can be had again. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
