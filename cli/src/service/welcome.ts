import { join, resolve } from 'node:path';
import { listRouteOverviews, type RouteOverview } from '@gatehouse/control-plane/catalogue';
import { hasOrganizations } from '@gatehouse/control-plane/organization';
import type { Database } from '@gatehouse/store';
import type { Config } from '../config/config.ts';
import { exposureWarning } from '../config/exposure-warning.ts';
import { hasPlatformKey } from '../config/platform-keys.ts';
import { addressOf } from '../listen/listener-address.ts';
import { isSupervised } from '../process/supervised.ts';
import type { StoreDescriptions } from '../stores/stores.ts';
import type { Environment } from '../terminal/command.ts';
import { shown } from '../terminal/output.ts';
import { type CommandOrigin, dataCommand, PROJECT, serviceCommand } from './project-command.ts';

/** Findings of a start that affect the next step of the person who started it. */
export interface State {
  readonly hasOrganizations: boolean;
  readonly providers: readonly ProviderState[];
}

/** A provider with an active route. */
export interface ProviderState {
  readonly name: string;
  /** The variables of the platform's own keys that are not set. */
  readonly unset: readonly string[];
  /** True if it can be used: a key is set, or it needs none. */
  readonly hasKey: boolean;
  readonly isBuiltIn: boolean;
}

/** The ports of the listeners and the descriptions of the stores. */
export interface Running {
  readonly apiPort: number | undefined;
  readonly gatewayPort: number | undefined;
  readonly metricsPort?: number | undefined;
  readonly descriptions: StoreDescriptions;
}

export async function findState(database: Database, environment: Environment): Promise<State> {
  const [hasAny, routes] = await Promise.all([hasOrganizations(database), listRouteOverviews(database)]);
  return { hasOrganizations: hasAny, providers: providersOf(routes, environment) };
}

function providersOf(routes: readonly RouteOverview[], environment: Environment): ProviderState[] {
  const inService = routes
    .filter(({ isActive }) => isActive)
    .flatMap(({ targets, isBuiltIn }) => targets.map(({ provider }) => ({ provider, isBuiltIn })));
  const named = new Map(inService.map((used) => [used.provider.name, used]));
  return Array.from(named.values(), ({ provider: { name, credentials }, isBuiltIn }) => {
    const variables = credentials.map(({ apiKeyEnv }) => apiKeyEnv);
    const unset = variables.filter((variable) => !hasPlatformKey(variable, environment));
    return { name, unset, hasKey: variables.length === 0 || unset.length < variables.length, isBuiltIn };
  });
}

/** The text for the person who started the service: addresses, stores, and the next step. */
export function welcome(
  config: Config,
  environment: Environment,
  running: Running,
  state: State,
  ms: number,
): string {
  const { apiPort, gatewayPort, metricsPort, descriptions } = running;
  const api = apiPort === undefined ? undefined : addressOf(config, apiPort);
  const dashboard = config.dashboard === 'off' ? undefined : api;
  const rows: [string, string][] = [
    ...(dashboard === undefined ? [] : [['Dashboard', dashboard] as [string, string]]),
    ...(api === undefined ? [] : [['API', `${api}/api`] as [string, string]]),
    ...(gatewayPort === undefined
      ? []
      : [['Gateway', `${addressOf(config, gatewayPort)}/v1`] as [string, string]]),
    ...(metricsPort === undefined
      ? []
      : [['Metrics', `${addressOf({ host: config.metricsHost }, metricsPort)}/metrics`] as [string, string]]),
    ['Data', resolve(config.dataDir)],
    ['PostgreSQL', descriptions.postgres],
    ['ClickHouse', descriptions.clickhouse],
    ...telemetryRows(descriptions),
    ['Rate limits', rateLimits(config)],
    ...(gatewayPort === undefined ? [] : providerRows(state.providers)),
  ];
  return [
    `Gatehouse is ready (${(ms / 1000).toFixed(1)} s).`,
    '',
    ...rows.map(([name, text]) => `  ${name.padEnd(12)} ${text}`),
    ...(api === undefined
      ? []
      : [
          '',
          ...next(`${api}/api`, dashboard, state, commands(config, environment, running)),
          ...providerAdvice(state, environment),
        ]),
    '',
    ...warning(config),
    ...(isSupervised(environment) ? [] : ['Ctrl-C stops it.', '']),
  ].join('\n');
}

function warning(config: Config): string[] {
  const text = exposureWarning(config);
  return text === undefined ? [] : [`Warning: ${text}`, ''];
}

function telemetryRows({ telemetryFailure }: StoreDescriptions): [string, string][] {
  return telemetryFailure === undefined
    ? []
    : [
        ['', `does not answer: ${shown(telemetryFailure)}`],
        ['', 'requests are served and kept in the journal; analytics answer 503 until it answers'],
      ];
}

function rateLimits({ redis, gatewayProcesses }: Config): string {
  if (redis !== undefined) {
    const nodes = [redis, ...(redis.others ?? [])].map(({ host, port }) => `${host}:${port}`);
    return `counted in Redis at ${shown(nodes.join(', '))}`;
  }
  return gatewayProcesses === 1
    ? 'counted by each gateway process'
    : `counted over ${gatewayProcesses} gateway processes`;
}

function providerRows(providers: readonly ProviderState[]): [string, string][] {
  const names = (some: readonly ProviderState[]) => some.map(({ name }) => shown(name)).join(', ');
  const usable = providers.filter(({ hasKey }) => hasKey);
  const missing = providers.filter(({ hasKey }) => !hasKey);
  return [
    ['Providers', usable.length === 0 ? 'none can be used yet' : `${names(usable)} can be used`],
    ...missing.map(({ name, unset }): [string, string] => ['', `${shown(name)} needs ${unset.join(' or ')}`]),
    ...usable
      .filter(({ unset }) => unset.length > 0)
      .map(({ name, unset }): [string, string] => ['', `${shown(name)} goes without ${unset.join(', ')}`]),
  ];
}

/** The commands of the next step. */
interface Commands {
  readonly list: string;
  /** Undefined where it refuses to work: with a store that is not embedded. */
  readonly demo: string | undefined;
}

function commands(config: Config, environment: Environment, { apiPort, gatewayPort }: Running): Commands {
  const { databaseUrl, clickhouseUrl } = config;
  if (isSupervised(environment)) {
    const program = join(PROJECT, 'cli/bin/gatehouse.mjs');
    const command = `${process.execPath} ${program} org list`;
    return { list: `look at what is there, with the settings of this service: ${command}`, demo: undefined };
  }
  const list = dataCommand('npx gatehouse org list', { environment });
  // Its address is not printed: it may hold a password.
  if (databaseUrl !== undefined)
    return { list: `look at what is there, with the same DATABASE_URL: ${list}`, demo: undefined };
  // 0 took a free port: the command has the one that was taken.
  const taken = (name: string, port: number | undefined) =>
    environment[name]?.trim() && port !== undefined ? { [name]: String(port) } : {};
  const origin: CommandOrigin = {
    environment: { ...environment, ...taken('PORT', apiPort), ...taken('GATEWAY_PORT', gatewayPort) },
  };
  const demo = clickhouseUrl === undefined ? serviceCommand('npx gatehouse demo', origin) : undefined;
  return { list: `look at what is there: ${list}`, demo };
}

function next(
  api: string,
  dashboard: string | undefined,
  { hasOrganizations }: State,
  { list, demo: fill }: Commands,
): string[] {
  return hasOrganizations
    ? [`Next: sign in${dashboard === undefined ? '' : ` at ${dashboard}`}, or ${list}`]
    : [
        dashboard === undefined
          ? 'Next: register an account (the README goes on from here to a first metered request):'
          : `Next: register an account at ${dashboard}, or with curl (the README goes on from here to a first metered request):`,
        '',
        `  curl -w '\\n' ${api}/auth/register -H 'content-type: application/json' \\`,
        `    -d '{"email":"you@example.com","password":"a long passphrase","organization_name":"My team"}'`,
        ...(fill === undefined ? [] : ['', `Or fill it with an organisation to look at: ${fill}`]),
      ];
}

function providerAdvice({ providers }: State, environment: Environment): string[] {
  const isReal = providers.some(({ hasKey, isBuiltIn }) => hasKey && !isBuiltIn);
  if (isReal) return [];
  const needsVariable = providers.some(({ hasKey }) => !hasKey);
  const demo = providers.some(({ isBuiltIn }) => isBuiltIn)
    ? 'Until a provider has its key, demo/echo answers requests; it needs none.'
    : 'No request can be answered yet: no provider has its key.';
  const where = isSupervised(environment)
    ? 'Set one of the variables above'
    : 'Put one of the variables above into a file named .env';
  return [
    '',
    demo,
    ...(needsVariable ? [`${where} and start again, or let an organisation store its own key.`] : []),
  ];
}
