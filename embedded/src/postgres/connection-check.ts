import { socketConfig } from '@gatehouse/store';
import pg from 'pg';
import { DATABASE, USER } from './cluster.ts';
import { EmbeddedPostgresError, messageOf } from './errors.ts';

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

/** True if the product's database answers a query. The pid file says `ready` a moment before the server is. */
export async function acceptsQueries(address: ServerAddress): Promise<boolean> {
  try {
    await query(address, DATABASE, 'SELECT 1');
    return true;
  } catch (error) {
    if (sqlState(error) === NO_SUCH_ROLE) {
      throw new EmbeddedPostgresError(
        `The database server is not one of Gatehouse: it has no user ${USER} (${messageOf(error)}).`,
      );
    }
    return false;
  }
}

/** Creates the product's database if missing: at the first start, or after an interrupted one. */
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
    ...socketConfig('-c timezone=UTC'),
    application_name: 'gatehouse supervisor',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
  });
  // Unhandled, the error event of a lost server would end this process.
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
