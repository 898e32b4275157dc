import { availableParallelism } from 'node:os';
import {
  DEFAULT_KEYS_PER_ORGANIZATION,
  DEFAULT_RATE_LIMIT_CEILING_RPM,
  microPkrFromTyped,
} from '@gatehouse/contract';
import { isPostgresAddress } from './addresses.ts';
import { alertSettings } from './alert-settings.ts';
import { clickhouseSettings } from './clickhouse-settings.ts';
import { combinationIssues, ownerIssues } from './config-combinations.ts';
import { ConfigError, requireNone } from './config-error.ts';
import { dashboardSetting } from './dashboard-setting.ts';
import { databaseSettings } from './database-settings.ts';
import { drainDelaySetting } from './drain-setting.ts';
import { exposureSettings } from './exposure-settings.ts';
import { hostSetting } from './host-setting.ts';
import { masterKeySettings } from './master-key-settings.ts';
import { metadataHeadersSetting } from './metadata-headers.ts';
import { metricsSettings } from './metrics-settings.ts';
import { otlpSettings } from './otlp-settings.ts';
import { proxySettings } from './proxy-settings.ts';
import { rateSettings } from './rate-settings.ts';
import { address, path, readSetting, type Setting, setting, settingValue, wholeNumber } from './setting.ts';
import { signInSettings } from './sign-in-settings.ts';
import { tlsSettings } from './tls-settings.ts';
import { inWords, type UnknownSetting, unknownSettings } from './unknown-settings.ts';

// Every setting of the service: name, meaning, default and how its text is parsed. docs/configuration.md is generated
// from this. Plain parsers, not zod: each setting states what it accepts for the docs and the error message anyway.

export { ConfigError };

export type Role = 'all' | 'api' | 'gateway';

const postgres = address(isPostgresAddress, 'postgres://', 'postgresql://');

const port = wholeNumber(0, 65_535);

const MAX_GATEWAY_PROCESSES = 64;

export const settings = {
  host: hostSetting('HOST', 'The address that every listener binds to.', 'PORT'),
  apiPort: setting('PORT', 'The port of the API. 0 takes any free one.', { ...port, fallback: 8080 }),
  gatewayPort: setting('GATEWAY_PORT', 'The port of the gateway. 0 takes any free one.', {
    ...port,
    fallback: 8081,
  }),
  ...tlsSettings,
  dataDir: setting('DATA_DIR', 'The directory of all state: the embedded stores and the journal.', {
    ...path,
    fallback: './data',
  }),
  databaseUrl: setting(
    'DATABASE_URL',
    'An external PostgreSQL (15 to 18). Several servers, of which the primary is used: postgres://user:password@a:5432,b:5432/database?target_session_attrs=read-write.',
    {
      ...postgres,
      fallback: undefined as string | undefined,
      fallbackText: 'embedded',
    },
  ),
  databaseOwnerUrl: setting(
    'DATABASE_OWNER_URL',
    'The login that owns the schema, for migrations and operator commands. DATABASE_URL then needs only the role gatehouse_service.',
    {
      ...postgres,
      fallback: undefined as string | undefined,
      fallbackText: 'that of DATABASE_URL',
    },
  ),
  ...databaseSettings,
  ...clickhouseSettings,
  ...masterKeySettings,
  catalogue: setting('CATALOGUE', 'The file of routes that is loaded when the database has none.', {
    ...path,
    fallback: undefined as string | undefined,
    fallbackText: 'the catalogue.yaml of this project',
  }),
  joinPolicy: setting(
    'JOIN_POLICY',
    'Who may join an organisation by registering with its name: anyone, addresses of the owner’s domain, or nobody.',
    {
      expected: 'open, same-domain or closed',
      fallback: undefined as 'open' | 'same-domain' | 'closed' | undefined,
      fallbackText:
        '`open` with the embedded database; must be set with an external one, or if HOST admits other machines',
      parse: (text) => (text === 'open' || text === 'same-domain' || text === 'closed' ? text : undefined),
    },
  ),
  signupCreditMicroPkr: setting('SIGNUP_CREDIT_PKR', 'Credit for each new organisation, in PKR.', {
    expected: 'an amount of PKR from 0 in plain digits, with at most 6 decimals',
    fallback: undefined as bigint | undefined,
    fallbackText:
      '1000 with the embedded database, where it must be set if HOST admits other machines; otherwise 0',
    parse: (text) => {
      const amount = microPkrFromTyped(text);
      return typeof amount === 'bigint' ? amount : undefined;
    },
  }),
  ...exposureSettings,
  signInAttempts: setting(
    'SIGN_IN_ATTEMPTS',
    'Failed sign-ins of one address within 15 minutes after which it has to wait.',
    { ...wholeNumber(1, 1_000), fallback: 10 },
  ),
  ...signInSettings,
  keysPerOrganization: setting(
    'KEYS_PER_ORGANIZATION',
    'How many keys that are not revoked an organisation may have. Keys beyond a lowered number stay.',
    { ...wholeNumber(1, 1_000_000), fallback: DEFAULT_KEYS_PER_ORGANIZATION },
  ),
  rateLimitCeilingRpm: setting(
    'RATE_LIMIT_CEILING_RPM',
    'The most requests per minute of any key. Set it alike for the API and all gateways.',
    { ...wholeNumber(1, 1_000_000), fallback: DEFAULT_RATE_LIMIT_CEILING_RPM },
  ),
  ...alertSettings,
  analyticsTimeoutMs: setting('ANALYTICS_TIMEOUT_MS', 'The time limit of an analytics query, in ms.', {
    ...wholeNumber(100, 600_000),
    fallback: 10_000,
  }),
  telemetryRetentionDays: setting(
    'TELEMETRY_RETENTION_DAYS',
    'Days that requests are kept for analytics, deleted by whole calendar months (UTC).',
    {
      ...wholeNumber(1, 36_500),
      fallback: undefined as number | undefined,
      fallbackText: 'kept forever',
    },
  ),
  gatewayProcesses: setting(
    'GATEWAY_PROCESSES',
    'Gateway processes on one port; auto is the number of cores.',
    {
      expected: `a whole number from 1 to ${MAX_GATEWAY_PROCESSES}, or auto`,
      fallback: 1,
      parse: (text) =>
        text === 'auto'
          ? Math.min(availableParallelism(), MAX_GATEWAY_PROCESSES)
          : wholeNumber(1, MAX_GATEWAY_PROCESSES).parse(text),
    },
  ),
  ...rateSettings,
  gatewayBodyLimitMb: setting(
    'GATEWAY_BODY_LIMIT_MB',
    'The largest request body of the gateway, in MiB. Bodies in flight may take 16 times as much in each gateway process.',
    // Above half a gigabyte a body is too long for a string.
    { ...wholeNumber(1, 256), fallback: 32 },
  ),
  dashboard: dashboardSetting,
  metadataHeaders: metadataHeadersSetting,
  drainDelaySeconds: drainDelaySetting,
  diskMinFreeMb: setting(
    'DISK_MIN_FREE_MB',
    'With less free disk space in DATA_DIR, in MiB, new requests get 503. 0 turns this off.',
    { ...wholeNumber(0, 1_048_576), fallback: 256 },
  ),
  gatewayHeapMb: setting(
    'GATEWAY_HEAP_MB',
    'The heap of each gateway process that `gatehouse start` runs, in MiB, without request bodies. A process that needs more is replaced.',
    {
      ...wholeNumber(64, 65_536),
      fallback: undefined as number | undefined,
      fallbackText: '512, or a quarter of the memory of the machine or container if less',
    },
  ),
  ...proxySettings,
  ...metricsSettings,
  ...otlpSettings,
  logLevel: setting('LOG_LEVEL', 'The lowest level that is logged.', {
    expected: 'debug, info, warn, error or silent',
    fallback: 'info',
    parse: (text) => (['debug', 'info', 'warn', 'error', 'silent'].includes(text) ? text : undefined),
  }),
} satisfies Record<string, Setting<unknown>>;

export type Values = {
  readonly [Name in keyof typeof settings]: ReturnType<(typeof settings)[Name]['read']>;
};

type OptionalSetting =
  | 'databaseUrl'
  | 'databaseOwnerUrl'
  | 'clickhouseUrl'
  | 'clickhouseOwnerUrl'
  | 'clickhouseCaFile'
  | 'clickhouseCluster'
  | 'catalogue'
  | keyof typeof tlsSettings
  | 'googleClientId'
  | 'oidcIssuer'
  | 'oidcClientId'
  | 'oidcClientSecret'
  | 'oidcDomains'
  | 'oidcOrganization'
  | 'publicUrl'
  | 'publicGatewayUrl'
  | 'smtpUrl'
  | 'smtpFrom'
  | 'telemetryRetentionDays'
  | keyof typeof proxySettings
  | 'metricsPort'
  | 'gatewayPoolSize'
  | 'drainDelaySeconds'
  | 'otlpEndpoint'
  | 'redis'
  | 'redisCaFile'
  | keyof typeof masterKeySettings;

/** The settings with all defaults applied. */
export type Config = {
  readonly [Name in keyof Values]: Name extends OptionalSetting
    ? Values[Name]
    : Exclude<Values[Name], undefined>;
};

/** Variables that are probably meant as settings, and have no effect. */
export function misspeltSettings(
  environment: Readonly<Record<string, string | undefined>>,
): UnknownSetting[] {
  const known = Object.values<Setting<unknown>>(settings);
  return unknownSettings(
    environment,
    known.flatMap(({ name, fileVariable, hasLowerCaseName }) => [
      name,
      ...(fileVariable === undefined ? [] : [fileVariable]),
      ...(hasLowerCaseName ? [name.toLowerCase()] : []),
    ]),
  );
}

/** All settings as far as they can be read, and what is wrong with the others. */
export interface ConfigReading {
  /** Undefined for a setting that is not accepted. */
  readonly values: Partial<Values>;
  readonly issues: readonly string[];
}

/** Reads the settings and finds all that is wrong with them. An empty value counts as unset. */
export function inspectSettings(environment: Readonly<Record<string, string | undefined>>): ConfigReading {
  const readings = Object.entries<Setting<unknown>>(settings).map(
    ([key, setting]) => [key, readSetting(setting, environment)] as const,
  );
  const values = Object.fromEntries(readings.map(([key, { value }]) => [key, value])) as Partial<Values>;
  const faulty = new Set(readings.flatMap(([key, { issue }]) => (issue === undefined ? [] : key)));
  return {
    values,
    issues: [
      ...readings.flatMap(([, { issue }]) => issue ?? []),
      ...combinationIssues(settings, values, (key) => !faulty.has(key)),
    ],
  };
}

/** The message of an invalid configuration. Names that resemble a setting are often the cause. */
export function configErrorFor(
  issues: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): ConfigError {
  return new ConfigError([...issues, ...misspeltSettings(environment).map(inWords)]);
}

/** Reads the settings. Throws ConfigError for all that is wrong. An empty value counts as unset. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const { values, issues } = inspectSettings(environment);
  if (issues.length > 0) throw configErrorFor(issues, environment);
  return {
    ...values,
    trustedProxyHops: values.trustedProxyHops ?? 1,
    joinPolicy: values.joinPolicy ?? 'open',
    signupCreditMicroPkr:
      values.signupCreditMicroPkr ?? (values.databaseUrl === undefined ? 1_000_000_000n : 0n),
  } as Config;
}

export type DatabaseConfig = Pick<Config, 'dataDir' | 'databaseUrl' | 'databaseOwnerUrl'>;

/** Reads only the settings that locate the database, for commands that need nothing else. Throws ConfigError. */
export function readDatabaseConfig(
  environment: Readonly<Record<string, string | undefined>>,
): DatabaseConfig {
  const config = {
    // It has a default.
    dataDir: settingValue(settings.dataDir, environment) as string,
    databaseUrl: settingValue(settings.databaseUrl, environment),
    databaseOwnerUrl: settingValue(settings.databaseOwnerUrl, environment),
  };
  requireNone(ownerIssues(config));
  return config;
}
