import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { systemClock } from '@gatehouse/concurrency';
import type { OrganizationId } from '@gatehouse/contract';
import { findOrganization } from '@gatehouse/control-plane/organization';
import {
  type Database,
  DatabaseUnavailable,
  type NoParameters,
  requireSchema,
  sql,
  statement,
} from '@gatehouse/store';
import { type DatabaseConfig, readDatabaseConfig } from '../config/config.ts';
import { openPostgresServer, type PostgresServer } from '../stores/postgres.ts';
import type { Context } from '../terminal/command.ts';
import { CommandError } from '../terminal/errors.ts';
import { unlessInterrupted } from '../terminal/interruption.ts';

// A command works on the database as its owner. If the embedded server runs for the service, the command uses it;
// otherwise the server runs for the command alone and stops with it. A command creates no database, and only
// `gatehouse migrate` changes a schema.

/** The server behind the database that a command works on. */
export interface CommandServer {
  readonly isEmbedded: boolean;
  readonly dataDir: string;
}

/**
 * Runs the work on the database of the settings, and closes everything that it opened. Before that it runs `check`: once,
 * or again while the embedded server is handed over from a process that ends.
 */
export async function withDatabase(
  { environment }: Context,
  work: (database: Database, server: CommandServer) => Promise<number>,
  check: (database: Database) => Promise<void> = requireSchema,
): Promise<number> {
  const config = readDatabaseConfig(environment());
  if (config.databaseUrl === undefined) await requireCluster(config);
  return unlessInterrupted(async (interrupted) => {
    await using server = await openPostgresServer(config, () => undefined);
    await using _ = { [Symbol.asyncDispose]: () => othersGone(server) };
    await using database = server.openOwner({ poolSize: 2, applicationName: 'gatehouse command' });
    const { dataDir } = config;
    try {
      await whenAvailable(server, () => check(database));
      return await Promise.race([work(database, { isEmbedded: server.isEmbedded, dataDir }), interrupted]);
    } catch (error) {
      throw server.explained(error, 'owner');
    }
  }).catch(explained);
}

async function requireCluster({ dataDir }: DatabaseConfig): Promise<void> {
  const directory = join(resolve(dataDir), 'postgres');
  // A directory that cannot be read exists. Opening it gives the error.
  const exists = await readdir(directory).then(
    (names) => names.length > 0,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  );
  if (exists) return;
  throw new CommandError(
    `there is no database in ${directory}; gatehouse start makes one there, or set DATA_DIR or DATABASE_URL`,
  );
}

const HANDOVER_MS = 3_000;
const POLL_MS = 25;

/** The embedded server may be stopping with the process that ran it. This process then restarts it within a moment. */
async function whenAvailable(server: PostgresServer, work: () => Promise<void>): Promise<void> {
  for (const end = performance.now() + HANDOVER_MS; ; await systemClock.sleep(POLL_MS)) {
    try {
      return await work();
    } catch (error) {
      const isTemporary = server.isEmbedded && isUnavailable(error) && performance.now() < end;
      if (!isTemporary) throw error;
    }
  }
}

const countOthers = statement<NoParameters, { others: bigint }>(
  'command-count-others',
  sql`SELECT count(*) AS others FROM pg_stat_activity
   WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
);

/** Waits before stopping the server while other processes use it, for as long as a command or a start usually takes. A
 *  process that needs it longer becomes the leader and restarts it. */
async function othersGone(server: PostgresServer): Promise<void> {
  if (!server.stopsOnDispose()) return;
  await using database = server.openOwner({ poolSize: 1 });
  for (
    const end = performance.now() + HANDOVER_MS;
    performance.now() < end;
    await systemClock.sleep(POLL_MS)
  ) {
    // A server that cannot be queried has ended by itself.
    const row = await database.one(countOthers).catch(() => undefined);
    if (!row || row.others === 0n) return;
  }
}

const NOT_PERMITTED = '42501';
// Stopped, crashed, starting.
const GONE = new Set(['57P01', '57P02', '57P03']);

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function isUnavailable(error: unknown): boolean {
  return error instanceof DatabaseUnavailable || GONE.has(codeOf(error));
}

function explained(error: unknown): never {
  if (codeOf(error) === NOT_PERMITTED) {
    throw new CommandError(
      `the database's login may not do this (${(error as Error).message}); a command needs the login that owns the schema (DATABASE_OWNER_URL)`,
    );
  }
  if (GONE.has(codeOf(error)))
    throw new DatabaseUnavailable('PostgreSQL cannot be used right now', { cause: error });
  throw error;
}

// The server cancelled the transaction (timeout, deadlock or conflict, already failed or idle), or refused the
// connection.
const UNDONE = new Set(['55P03', '57014', '40001', '40P01', '25P02', '25P03', '53300', '57P03']);
const NO_CONNECTION = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);
// The driver gives these no code.
const NO_CONNECTION_IN_TIME =
  /^(timeout exceeded when trying to connect|Connection terminated due to connection timeout)/;

/** True if the failure proves that nothing was changed. */
function isUndone({ cause }: DatabaseUnavailable): boolean {
  if (!(cause instanceof Error)) return false;
  const code = codeOf(cause);
  const hasNotConnected = 'syscall' in cause && cause.syscall === 'connect';
  return (
    UNDONE.has(code) ||
    NO_CONNECTION.has(code) ||
    hasNotConnected ||
    NO_CONNECTION_IN_TIME.test(cause.message)
  );
}

/** Makes a change, in one transaction. If the connection is lost meanwhile, the error says whether the outcome is known. */
export async function change<T>(lookAt: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) throw error;
    if (isUndone(error))
      throw new CommandError(`${error.message}; nothing was changed`, { cause: error.cause });
    throw new CommandError(
      `${error.message}: whether the change was made is not certain, so look before you repeat it (${lookAt})`,
      { cause: error.cause },
    );
  }
}

/** The organisation with this id or name. Throws CommandError if there is none. */
export async function requireOrganization(
  database: Database,
  reference: string,
): Promise<{ readonly id: OrganizationId; readonly name: string }> {
  const organization = await findOrganization(database, reference);
  if (organization) return organization;
  throw noOrganization(reference);
}

export function noOrganization(reference: string): CommandError {
  return new CommandError(
    `no organisation has the id or the name ${JSON.stringify(reference)}; gatehouse org list shows those there are`,
  );
}

/** No project, or more than one, is what the reference says. */
export function noSingleProject(
  organization: { readonly name: string },
  reference: string,
  candidates: readonly string[],
): CommandError {
  const name = JSON.stringify(reference);
  return new CommandError(
    candidates.length === 0
      ? `${organization.name} has no project with the id or the name ${name}; gatehouse project list shows them`
      : `${organization.name} has several projects named ${name}; name one by its id: ${candidates.join(', ')}`,
  );
}

export function noAccount(email: string): CommandError {
  return new CommandError(
    `no account has the e-mail address ${JSON.stringify(email)}; gatehouse user list ORG shows those of an organisation`,
  );
}
