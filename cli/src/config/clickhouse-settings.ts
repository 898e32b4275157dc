import { isHttpAddress } from './addresses.ts';
import { clickhouseIssues } from './clickhouse-issues.ts';
import type { Config } from './config.ts';
import { requireNone } from './config-error.ts';
import { address, path, setting, settingValue } from './setting.ts';

// Where ClickHouse is, and how the service uses it.

const clickhouse = address(isHttpAddress, 'http://', 'https://');
const none = undefined as string | undefined;

export const clickhouseSettings = {
  clickhouseUrl: setting(
    'CLICKHOUSE_URL',
    'An external ClickHouse, by its HTTP interface: http(s)://user:password@host:port/database. The database is `telemetry` unless named.',
    { ...clickhouse, fallback: none, fallbackText: 'embedded' },
  ),
  clickhouseOwnerUrl: setting(
    'CLICKHOUSE_OWNER_URL',
    'The login that creates and migrates the tables. CLICKHOUSE_URL then needs no rights to change the schema.',
    { ...clickhouse, fallback: none, fallbackText: 'that of CLICKHOUSE_URL' },
  ),
  clickhouseCaFile: setting(
    'CLICKHOUSE_CA_FILE',
    'A file of CA certificates (PEM) that verify an https ClickHouse.',
    { ...path, fallback: none, fallbackText: 'those of Node.js' },
  ),
  clickhouseCluster: setting(
    'CLICKHOUSE_CLUSTER',
    'The cluster of that ClickHouse: one shard, any number of replicas.',
    {
      expected: 'a name of its remote_servers: letters, digits and _',
      fallback: none,
      fallbackText: 'a single server',
      parse: (text) => (/^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(text) ? text : undefined),
    },
  ),
  clickhouseInsertQuorum: setting(
    'CLICKHOUSE_INSERT_QUORUM',
    'How many nodes of a cluster must have stored requests before they leave the journal; auto is more than half.',
    {
      expected: 'a whole number from 1 to 100, or auto',
      fallback: 'auto',
      parse: (text) => (text === 'auto' || /^([1-9][0-9]?|100)$/.test(text) ? text : undefined),
    },
  ),
};

/** Reads only the settings that locate ClickHouse. Throws ConfigError. */
export function readClickHouseConfig(
  environment: Readonly<Record<string, string | undefined>>,
): Pick<Config, 'clickhouseUrl' | 'clickhouseOwnerUrl' | 'clickhouseCaFile' | 'clickhouseCluster'> {
  const config = {
    clickhouseUrl: settingValue(clickhouseSettings.clickhouseUrl, environment),
    clickhouseOwnerUrl: settingValue(clickhouseSettings.clickhouseOwnerUrl, environment),
    clickhouseCaFile: settingValue(clickhouseSettings.clickhouseCaFile, environment),
    clickhouseCluster: settingValue(clickhouseSettings.clickhouseCluster, environment),
  };
  requireNone(clickhouseIssues(config));
  return config;
}
