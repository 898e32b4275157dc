import { type DatabaseConfig, readDatabaseConfig, settings } from '../../config/config.ts';
import { settingValue } from '../../config/setting.ts';
import type { Environment } from '../../terminal/command.ts';
import { CommandError } from '../../terminal/errors.ts';

/** Finds the embedded stores. Throws CommandError where either store is the operator's own. */
export function requireEmbeddedStores(environment: Environment, verb: string): DatabaseConfig {
  const config = readDatabaseConfig(environment);
  const external = [
    ...(config.databaseUrl === undefined ? [] : [settings.databaseUrl.name]),
    ...(settingValue(settings.clickhouseUrl, environment) === undefined ? [] : [settings.clickhouseUrl.name]),
  ];
  if (external.length === 0) return config;
  throw new CommandError(
    `gatehouse ${verb} is for the embedded stores, and ${external.join(' and ')} ${external.length === 1 ? 'is' : 'are'} set: use pg_dump and ClickHouse's BACKUP, as docs/backup.md describes`,
  );
}
