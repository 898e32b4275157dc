// A process that opens an embedded server and holds it until its standard input ends. Tests start it, to kill it.
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { openEmbeddedPostgres, type Surroundings } from '../postgres/index.ts';

export interface HolderOrder {
  readonly dataDir: string;
  readonly surroundings?: Surroundings;
  /** The user to become, once the program is loaded: it may lie where that user cannot go. Root alone can. */
  readonly uid?: number;
  /** How many clients insert into `drill` without pause, each acknowledged number being reported. */
  readonly inserters?: number;
}

export interface HolderReport {
  readonly opened?: { readonly role: 'owner' | 'guest'; readonly serverPid: number; readonly host: string };
  readonly event?: { readonly kind: string; readonly message: string };
  readonly acknowledged?: string;
  readonly refused?: string;
}

const order = JSON.parse(process.argv[2] ?? '{}') as HolderOrder;

// Written at once and whole: what has been reported must survive the SIGKILL that comes next.
function report(message: HolderReport): void {
  writeSync(1, `${JSON.stringify(message)}\n`);
}

async function makeTable(pool: pg.Pool): Promise<void> {
  try {
    await pool.query('CREATE TABLE IF NOT EXISTS drill (row text PRIMARY KEY)');
  } catch {
    // Another holder is making it too, which PostgreSQL takes for a conflict, or the server has just been killed.
    await sleep(20);
    await makeTable(pool);
  }
}

async function insertUntil(ended: AbortSignal, pool: pg.Pool, name: string): Promise<void> {
  for (let number = 0; !ended.aborted; number += 1) {
    const row = `${process.pid}.${name}.${number}`;
    try {
      await pool.query('INSERT INTO drill (row) VALUES ($1)', [row]);
      report({ acknowledged: row });
    } catch {
      // The server is on its way down or up; nothing was acknowledged.
      await sleep(20);
    }
  }
}

function become(uid: number): void {
  process.setgroups?.([]);
  process.setgid?.(uid);
  process.setuid?.(uid);
}

async function hold(): Promise<void> {
  if (order.uid !== undefined) become(order.uid);
  const ended = new AbortController();
  process.stdin.once('end', () => ended.abort()).resume();
  await using server = await openEmbeddedPostgres(
    { dataDir: order.dataDir, onEvent: (event) => report({ event }) },
    order.surroundings,
  );
  const pool = new pg.Pool({ ...server.connection, max: 8 });
  pool.on('error', () => undefined);
  if (order.inserters) await makeTable(pool);
  report({
    opened: { role: server.role(), serverPid: server.serverPid() ?? 0, host: server.connection.host },
  });
  const names = Array.from({ length: order.inserters ?? 0 }, (_, index) => String(index));
  await Promise.all(names.map((name) => insertUntil(ended.signal, pool, name)));
  if (!ended.signal.aborted) await new Promise((resolve) => ended.signal.addEventListener('abort', resolve));
  await pool.end();
}

try {
  await hold();
} catch (error) {
  report({ refused: error instanceof Error ? error.message : String(error) });
  process.exitCode = 1;
}
