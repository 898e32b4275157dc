import {
  createTablesOnCluster,
  type Database,
  duePostgresMigrations,
  dueTelemetryMigrations,
  MigrationError,
  migratePostgres,
  migrateTelemetry,
  readTelemetryMigrations,
  type TelemetryMigration,
} from '@gatehouse/store';
import { readClickHouseConfig } from '../../config/clickhouse-settings.ts';
import { type ClickHouseServer, openClickHouseServer } from '../../stores/clickhouse.ts';
import { clickhouseFailure, namedServer } from '../../stores/clickhouse-failure.ts';
import type { Context } from '../../terminal/command.ts';
import { CommandError, engineUnavailable } from '../../terminal/errors.ts';
import { print } from '../../terminal/output.ts';
import { withDatabase } from '../database.ts';

/** One store: which migrations were due, and which of them this run applied. Another process may have applied others. */
interface StoreMigrations {
  readonly due: readonly string[];
  readonly applied: readonly string[];
}

const ENGINE_TIMEOUT_MS = 20_000;

export function migrateStores(isCheck: boolean, context: Context): Promise<number> {
  const clickhouse = readClickHouseConfig(context.environment());
  let dueInPostgres: readonly string[] = [];
  const findDue = async (database: Database) => {
    dueInPostgres = await duePostgresMigrations(database);
  };
  const migrate = async (
    database: Database,
    { isEmbedded, dataDir }: { isEmbedded: boolean; dataDir: string },
  ) => {
    await using server = await openClickHouseServer(
      { ...clickhouse, dataDir },
      { readyTimeoutMs: ENGINE_TIMEOUT_MS },
    );
    if (!server.isReady()) throw engineUnavailable();
    // Both stores are looked at before either is changed.
    const dueInClickHouse = await usable(server, dueTelemetryMigrations(server.ownerTarget));
    const postgresql: StoreMigrations = {
      due: dueInPostgres,
      applied: isCheck
        ? []
        : await migratePostgres(database, { serviceMayLogIn: isEmbedded, repairsRights: true }),
    };
    if (!context.isJson) context.out(lines('PostgreSQL', postgresql, isCheck));
    const clickHouse: StoreMigrations = {
      due: dueInClickHouse.map(nameOf),
      applied: isCheck ? [] : await applyToClickHouse(server),
    };
    if (!context.isJson) context.out(lines('ClickHouse', clickHouse, isCheck));
    const isDue = isCheck && postgresql.due.length + clickHouse.due.length > 0;
    print(context, { up_to_date: !isDue, postgresql, clickhouse: clickHouse }, []);
    return isDue ? 1 : 0;
  };
  return withDatabase(context, migrate, findDue);
}

async function applyToClickHouse(server: ClickHouseServer): Promise<string[]> {
  const versions = await usable(server, migrateTelemetry(server.ownerTarget));
  await usable(server, createTablesOnCluster(server.ownerTarget));
  return readTelemetryMigrations()
    .filter(({ version }) => versions.includes(version))
    .map(nameOf);
}

function nameOf({ version, name }: TelemetryMigration): string {
  return `${String(version).padStart(4, '0')}-${name}`;
}

function lines(store: string, { due, applied }: StoreMigrations, isCheck: boolean): string {
  const names = isCheck ? due : applied;
  if (names.length === 0) return `${store}  up to date\n`;
  return names.map((name) => `${store}  ${isCheck ? 'due' : 'applied'} ${name}\n`).join('');
}

/** The client's errors do not say which store they are about. */
async function usable<T>(server: ClickHouseServer, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof MigrationError) throw error;
    // Without the cause, whose words are in the reason already.
    throw new CommandError(
      `ClickHouse cannot be used: ${namedServer(server, 'owner')}${clickhouseFailure(error)}`,
    );
  }
}
