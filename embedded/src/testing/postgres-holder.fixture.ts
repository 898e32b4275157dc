// A process that opens an embedded server and keeps it open until its standard input ends. Tests start it to kill it.
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Environment, openEmbeddedPostgres } from '../postgres/index.ts';

export interface HolderOptions {
  readonly dataDir: string;
  readonly environment?: Environment;
  /** The user to become once the program is loaded, which that user may not be able to read. Needs root. */
  readonly uid?: number;
  /** How many clients insert into `kept` without a pause. Each acknowledged row is reported. */
  readonly inserters?: number;
}

export interface HolderReport {
  readonly opened?: {
    readonly role: 'leader' | 'follower';
    readonly serverPid: number;
    readonly host: string;
  };
  readonly event?: { readonly kind: string; readonly message: string };
  readonly acknowledged?: string;
  readonly error?: string;
}

const options = JSON.parse(process.argv[2] ?? '{}') as HolderOptions;

// Written synchronously: a report must survive the SIGKILL that follows.
function report(message: HolderReport): void {
  writeSync(1, `${JSON.stringify(message)}\n`);
}

async function makeTable(pool: pg.Pool): Promise<void> {
  try {
    await pool.query('CREATE TABLE IF NOT EXISTS kept (row text PRIMARY KEY)');
  } catch {
    // Another holder creates it too, which PostgreSQL reports as a conflict, or the server has just been killed.
    await sleep(20);
    await makeTable(pool);
  }
}

async function insertUntil(ended: AbortSignal, pool: pg.Pool, name: string): Promise<void> {
  for (let number = 0; !ended.aborted; number += 1) {
    const row = `${process.pid}.${name}.${number}`;
    try {
      await pool.query('INSERT INTO kept (row) VALUES ($1)', [row]);
      report({ acknowledged: row });
    } catch {
      // The server is stopping or starting; nothing was acknowledged.
      await sleep(20);
    }
  }
}

function become(uid: number): void {
  process.setgroups?.([]);
  process.setgid?.(uid);
  process.setuid?.(uid);
}

async function holdServer(): Promise<void> {
  if (options.uid !== undefined) become(options.uid);
  const ended = new AbortController();
  process.stdin.once('end', () => ended.abort()).resume();
  await using server = await openEmbeddedPostgres(
    { dataDir: options.dataDir, onEvent: (event) => report({ event }) },
    options.environment,
  );
  const pool = new pg.Pool({ ...server.connection, max: 8 });
  pool.on('error', () => undefined);
  if (options.inserters) await makeTable(pool);
  report({
    opened: { role: server.role(), serverPid: server.serverPid() ?? 0, host: server.connection.host },
  });
  const names = Array.from({ length: options.inserters ?? 0 }, (_, index) => String(index));
  await Promise.all(names.map((name) => insertUntil(ended.signal, pool, name)));
  if (!ended.signal.aborted) await new Promise((resolve) => ended.signal.addEventListener('abort', resolve));
  await pool.end();
}

try {
  await holdServer();
} catch (error) {
  report({ error: error instanceof Error ? error.message : String(error) });
  process.exitCode = 1;
}
