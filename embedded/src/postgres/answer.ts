import pg from 'pg';
import { DATABASE, USER } from './cluster.ts';
import { EmbeddedPostgresRefused, reasonOf } from './refusal.ts';

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

const CONNECT_TIMEOUT_MS = 2_000;
const QUERY_TIMEOUT_MS = 30_000;

// https://www.postgresql.org/docs/18/errcodes-appendix.html
const NO_SUCH_DATABASE = '3D000';
const NO_SUCH_ROLE = '28000';
const DATABASE_EXISTS = '42P04';

/** Whether the product's database answers a question. The pid file says `ready` a moment before the server is. */
export async function answers(address: ServerAddress): Promise<boolean> {
  try {
    await query(address, DATABASE, 'SELECT 1');
    return true;
  } catch (error) {
    if (sqlState(error) === NO_SUCH_ROLE) {
      throw new EmbeddedPostgresRefused(
        `The database server is not one that was made for this: it has no user ${USER} (${reasonOf(error)}).`,
      );
    }
    return false;
  }
}

/** Makes the product's database when there is none: at the first start, or when the first start was cut short. */
export async function ensureDatabase(address: ServerAddress): Promise<void> {
  try {
    await query(address, DATABASE, 'SELECT 1');
  } catch (error) {
    if (sqlState(error) !== NO_SUCH_DATABASE) throw error;
    await query(address, 'postgres', `CREATE DATABASE ${DATABASE}`).catch((failure: unknown) => {
      if (sqlState(failure) !== DATABASE_EXISTS) throw failure;
    });
  }
}

async function query(address: ServerAddress, database: string, text: string): Promise<void> {
  const client = new pg.Client({
    ...address,
    user: USER,
    database,
    ssl: false,
    application_name: 'gatehouse supervisor',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
  });
  // A server that goes away would otherwise end this process with an unhandled event.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(text);
  } finally {
    await client.end().catch(() => undefined);
  }
}

function sqlState(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
