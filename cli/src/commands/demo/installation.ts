import { withTimeout } from '@gatehouse/concurrency';
import type { Database, TelemetryClient } from '@gatehouse/store';
import { createTelemetryClient } from '@gatehouse/store';
import { pino } from 'pino';
import { type Config, readConfig, settings } from '../../config/config.ts';
import { settingValue } from '../../config/setting.ts';
import { becomeDataOwner } from '../../service/data-owner.ts';
import { makeDataDirectory, prepareRoutes, readChosenCatalogue } from '../../service/installation.ts';
import { openStores } from '../../stores/stores.ts';
import type { Environment } from '../../terminal/command.ts';
import { CommandError, engineUnavailable } from '../../terminal/errors.ts';

/** The embedded stores, migrated and with routes, as after a start of the service. */
export interface Installation extends AsyncDisposable {
  readonly database: Database;
  readonly telemetry: TelemetryClient;
  readonly telemetryDatabase: string;
}

const TELEMETRY_TIMEOUT_MS = 30_000;
// A million rows in one statement.
const REQUEST_TIMEOUT_MS = 600_000;

/** Reads the settings. Throws CommandError if either store is external. */
export function readEmbeddedConfig(environment: Environment): Config {
  const external = [settings.databaseUrl, settings.clickhouseUrl].filter(
    (setting) => settingValue(setting, environment) !== undefined,
  );
  if (external.length > 0) {
    const names = external.map(({ name }) => name);
    throw new CommandError(
      `gatehouse demo is for the embedded stores, and ${names.join(' and ')} ${names.length === 1 ? 'is' : 'are'} set`,
    );
  }
  return readConfig(environment);
}

/** Uses the running stores, or runs them for this command; creates what a first start would create. */
export async function openInstallation(config: Config): Promise<Installation> {
  await using stack = new AsyncDisposableStack();
  becomeDataOwner(config.dataDir);
  await makeDataDirectory(config.dataDir);
  const chosen = await readChosenCatalogue(config);
  const stores = stack.use(await openStores(config, pino({ level: 'silent' })));
  await withTimeout(stores.telemetryMigrated, TELEMETRY_TIMEOUT_MS, engineUnavailable);
  await prepareRoutes(stores.database, config, chosen);
  const telemetry = createTelemetryClient(stores.telemetryTarget, { requestTimeoutMs: REQUEST_TIMEOUT_MS });
  stack.defer(() => telemetry.close());
  const resources = stack.move();
  return {
    database: stores.database,
    telemetry,
    telemetryDatabase: stores.telemetryDatabase,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
