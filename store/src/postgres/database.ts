import pg from 'pg';
import { clientConfig, type PostgresAddress, serversAt } from './client-config.ts';
import { isOfStandby, isWithoutAnswer, withUnavailable } from './errors.ts';
import { clientOf, createServerPool } from './servers.ts';
import { trackSockets } from './sockets.ts';
import { memberName, type Statement, type StatementArguments, valuesOf } from './statement.ts';
import { NO_LIMIT, startTimeLimit, type TimeLimit } from './time-limit.ts';
import { withRetries } from './with-retries.ts';

export type { PostgresAddress };

export interface Queryable {
  /** All rows, in order. Throws DatabaseUnavailable when the server cannot be used. */
  many<Parameters, Row>(
    statement: Statement<Parameters, Row>,
    ...parameters: StatementArguments<NoInfer<Parameters>>
  ): Promise<Row[]>;
  /** The row, or undefined. More than one row is a programming error and throws. */
  one<Parameters, Row>(
    statement: Statement<Parameters, Row>,
    ...parameters: StatementArguments<NoInfer<Parameters>>
  ): Promise<Row | undefined>;
  /** The number of rows that the statement touched. */
  run<Parameters>(
    statement: Statement<Parameters, unknown>,
    ...parameters: StatementArguments<NoInfer<Parameters>>
  ): Promise<number>;
}

declare const inTransaction: unique symbol;

/** Statements that commit together or not at all. A function that must be part of a change asks for this type. */
export interface Transaction extends Queryable {
  readonly [inTransaction]: true;
}

export interface Database extends Queryable, AsyncDisposable {
  /** Runs `work` in one transaction; again, up to three times more, when PostgreSQL reports a deadlock or a
   *  serialisation failure, so `work` must do nothing but database work. After `timeoutMs` no statement is sent any more. */
  transaction<T>(work: (tx: Transaction) => Promise<T>, timeoutMs?: number): Promise<T>;
  /** A moment of the database to look at for as long as it takes: every statement sees it as it was when the first
   *  one ran, and none can change it. On a connection of its own, without the pool's time limits. */
  snapshot(): Promise<Queryable & AsyncDisposable>;
  /** A connection of its own, for LISTEN or advisory locks. Not bounded by the pool's time limits. */
  connect(): Promise<pg.Client>;
  usage(): DatabaseUsage;
}

/** The pool's connections at this moment, and the errors of its statements so far. */
export interface DatabaseUsage {
  readonly busy: number;
  readonly idle: number;
  /** The statements that wait for a connection. */
  readonly waiting: number;
  /** Statements that the server has answered so far, with rows or with an error of its own. */
  readonly answered: number;
  /** When statements began to fail for want of the server, by `performance.now()`; undefined since it answered one. */
  readonly unavailableSinceMs: number | undefined;
  readonly errors: Readonly<Pick<Counts, 'unavailable' | 'rejected'>>;
}

interface Counts {
  answered: number;
  /** The server could not be used, or not in time. */
  unavailable: number;
  unavailableSinceMs: number | undefined;
  /** The statement was refused. */
  rejected: number;
}

export interface DatabaseOptions {
  /** Connections at most; 8 is the measured optimum on two cores. */
  readonly poolSize?: number;
  readonly applicationName?: string;
  /** The role that every connection takes on; left out, that of the login itself. */
  readonly role?: string;
  /**
   * True if a pooler gives each transaction another connection: nothing of a session lasts, so statements are not prepared and settings
   * come with the login.
   */
  readonly isPooled?: boolean;
  /** Left out, that of the service. */
  readonly timeouts?: DatabaseTimeouts;
  /** Called with errors on idle connections, which have no caller. */
  readonly onError?: (error: Error) => void;
}

/** How long a caller waits until it gets `DatabaseUnavailable`. */
export interface DatabaseTimeouts {
  /** For a new connection, for a free one of the pool, and at the end for the server to close them. */
  readonly connectionMs: number;
  /** For a row or a table that another transaction has locked. */
  readonly lockMs: number;
  readonly statementMs: number;
}

export const SERVICE_TIMEOUTS: DatabaseTimeouts = { connectionMs: 2_000, lockMs: 2_000, statementMs: 5_000 };

// What a network may take of a statement's time. The server ends a statement itself; one that has not answered by then is gone.
const NETWORK_MS = 2_000;

/** Opens a pool. Nothing is connected until the first statement. */
export function openDatabase(address: PostgresAddress, options: DatabaseOptions = {}): Database {
  const role = options.role === undefined ? '' : ` -c role=${options.role}`;
  const { connectionMs, lockMs, statementMs } = options.timeouts ?? SERVICE_TIMEOUTS;
  const { isPooled = false } = options;
  const ofSession = (settings: string) => (isPooled ? undefined : settings);
  const servers = serversAt(address);
  const sockets = trackSockets();
  const poolConfig: pg.PoolConfig = {
    // A statement that outlives these is given up by the server itself; query_timeout is for a server that is gone.
    ...clientConfig(
      address,
      ofSession(
        `-c timezone=UTC -c statement_timeout=${statementMs} -c lock_timeout=${lockMs} -c idle_in_transaction_session_timeout=${2 * statementMs}${role}`,
      ),
    ),
    application_name: options.applicationName ?? 'gatehouse',
    max: options.poolSize ?? 8,
    connectionTimeoutMillis: connectionMs,
    idleTimeoutMillis: 30_000,
    query_timeout: statementMs + NETWORK_MS,
    keepAlive: true,
    stream: sockets.open,
  };
  const pool = servers ? createServerPool(servers, poolConfig) : new pg.Pool(poolConfig);
  // A connection that the server closes while the pool closes is no error.
  let isClosing = false;
  const onError = (error: Error) => {
    if (!isClosing) options.onError?.(error);
  };
  pool.on('error', onError);
  const counts: Counts = { answered: 0, unavailable: 0, unavailableSinceMs: undefined, rejected: 0 };

  const connect = async (left = servers?.urls.length ?? 1): Promise<pg.Client> => {
    const client = new (servers ? clientOf(servers) : pg.Client)({
      ...clientConfig(address, ofSession(`-c timezone=UTC${role}`)),
      application_name: `${options.applicationName ?? 'gatehouse'} (own connection)`,
      connectionTimeoutMillis: connectionMs,
      keepAlive: true,
    });
    client.on('error', onError);
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (left > 1) return connect(left - 1);
      throw translated(error, counts);
    }
  };

  return {
    ...queryable(pool, counts, isPooled),
    connect: () => connect(),
    usage: () => ({
      busy: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
      answered: counts.answered + counts.rejected,
      unavailableSinceMs: counts.unavailableSinceMs,
      errors: { unavailable: counts.unavailable, rejected: counts.rejected },
    }),
    async snapshot() {
      const client = await connect();
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      return { ...queryable(client, counts, isPooled), [Symbol.asyncDispose]: () => client.end() };
    },
    async transaction<T>(work: (tx: Transaction) => Promise<T>, timeoutMs?: number): Promise<T> {
      const limit = startTimeLimit(timeoutMs);
      return withRetries(() => attemptTransaction(pool, work, counts, isPooled, limit));
    },
    async [Symbol.asyncDispose]() {
      isClosing = true;
      await sockets.closeAfter(pool.end(), connectionMs);
    },
  };
}

async function attemptTransaction<T>(
  pool: pg.Pool,
  work: (tx: Transaction) => Promise<T>,
  counts: Counts,
  isPooled: boolean,
  limit: TimeLimit,
): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    throw translated(error, counts);
  });
  let broken: Error | undefined;
  // The pool listens only while a connection is idle. An error of one in use must not become an uncaught one.
  const onError = (error: Error) => {
    broken = error;
  };
  client.on('error', onError);
  const send = async (command: 'BEGIN' | 'COMMIT') => {
    limit.check();
    await client.query(command).catch((error: unknown) => {
      throw translated(error, counts);
    });
  };
  try {
    await send('BEGIN');
    const result = await work(queryable(client, counts, isPooled, limit) as Transaction);
    await send('COMMIT');
    return result;
  } catch (error) {
    // Another connection may find the server that takes writes. One that does not answer is not asked to roll back: the server
    // does when the connection ends.
    if (isOfStandby(error) || isWithoutAnswer(error)) broken = error as Error;
    else
      await client.query('ROLLBACK').catch((rollbackError: Error) => {
        broken = rollbackError;
      });
    // Unchanged: what the work itself throws is no error of the database.
    throw error;
  } finally {
    client.off('error', onError);
    client.release(broken);
  }
}

function queryable(
  connection: pg.Pool | pg.PoolClient | pg.Client,
  counts: Counts,
  isPooled: boolean,
  limit = NO_LIMIT,
): Queryable {
  const send = async (statement: Statement<never, unknown>, [given]: readonly unknown[]) => {
    limit.check();
    const { name, text } = statement;
    const values = valuesOf(statement, given as Readonly<Record<string, unknown>> | undefined);
    try {
      const result = await connection.query<unknown[]>({
        ...(!isPooled && { name }),
        text,
        values,
        rowMode: 'array',
      });
      counts.answered += 1;
      counts.unavailableSinceMs = undefined;
      return { rowCount: result.rowCount, rows: rowsOf(statement, result) };
    } catch (error) {
      throw translated(error, counts);
    }
  };
  return {
    async many<Parameters, Row>(statement: Statement<Parameters, Row>, ...given: readonly unknown[]) {
      return (await send(statement, given)).rows as Row[];
    },
    async one<Parameters, Row>(statement: Statement<Parameters, Row>, ...given: readonly unknown[]) {
      const { rows } = await send(statement, given);
      if (rows.length > 1)
        throw new Error(`${statement.name} returned ${rows.length} rows where one was expected`);
      return rows[0] as Row | undefined;
    },
    async run<Parameters>(statement: Statement<Parameters, unknown>, ...given: readonly unknown[]) {
      return (await send(statement, given)).rowCount ?? 0;
    },
  };
}

/** The members of the rows of each statement, in the order of its columns. */
const members = new WeakMap<Statement<never, unknown>, readonly string[]>();

function rowsOf(
  statement: Statement<never, unknown>,
  { fields, rows }: pg.QueryArrayResult<unknown[]>,
): object[] {
  if (rows.length === 0) return [];
  let names = members.get(statement);
  if (names?.length !== fields.length) {
    names = fields.map(({ name }) => memberName(name));
    members.set(statement, names);
  }
  return rows.map((values) => {
    const row: Record<string, unknown> = {};
    for (let index = 0; index < names.length; index += 1) row[names[index] as string] = values[index];
    return row;
  });
}

function translated(error: unknown, counts: Counts): unknown {
  if (error instanceof pg.DatabaseError) withoutRows(error);
  const shown = withUnavailable(error);
  if (shown !== error) counts.unavailable += 1;
  else if (error instanceof pg.DatabaseError) counts.rejected += 1;
  else return error;
  counts.unavailableSinceMs = shown === error ? undefined : (counts.unavailableSinceMs ?? performance.now());
  return shown;
}

// PostgreSQL quotes the row that broke a constraint, password hashes included. No code reads these texts, and the error
// must be safe to log.
function withoutRows(error: pg.DatabaseError): void {
  error.detail = undefined;
  error.where = undefined;
  error.internalQuery = undefined;
}
