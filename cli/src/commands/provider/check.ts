import { decimalFromMicroPkr } from '@gatehouse/contract';
import { listRouteOverviews, type RouteOverview } from '@gatehouse/control-plane/catalogue';
import { checkProvider, DIFFERENCES, type ProviderCheck } from '@gatehouse/gateway/check';
import { type Logger, pino } from 'pino';
import { hasPlatformKey, platformKeys } from '../../config/platform-keys.ts';
import { proxyOfEnvironment } from '../../config/proxy-settings.ts';
import type { Context, Environment } from '../../terminal/command.ts';
import { CommandError } from '../../terminal/errors.ts';
import { columns, print, shown, warn } from '../../terminal/output.ts';
import { withDatabase } from '../database.ts';

export interface CheckArguments {
  readonly provider: string | undefined;
  readonly route: string | undefined;
}

/** The exit code is 1 where anything differs. */
export function checkProviders(args: CheckArguments, context: Context): Promise<number> {
  const environment = context.environment();
  const proxyOf = proxyOfEnvironment(environment);
  const log = logTo(context);
  const platformKey = platformKeys(environment, log);
  return withDatabase(context, async (database) => {
    const chosen = choose(args, await listRouteOverviews(database), environment);
    const checks: ProviderCheck[] = [];
    for (const [provider, routeIds] of chosen)
      checks.push(...(await checkProvider(provider, routeIds, { database, platformKey, proxyOf, log })));
    print(context, { checks: checks.map(checkDocument) }, [
      ...columns([TITLES, ...checks.map(row)]),
      ...checks.flatMap(explanations),
    ]);
    return checks.every(({ differences }) => differences.length === 0) ? 0 : 1;
  });
}

/** A log on standard error, since the output is the report. */
function logTo(context: Context): Logger {
  const write = (line: string) => {
    const { msg, reason, issue } = JSON.parse(line) as Record<string, string | undefined>;
    warn(context, [msg, reason ?? issue].filter((part) => part !== undefined).join(': '));
  };
  return pino({ level: 'warn' }, { write });
}

const BUILT_IN = 'demo';

/** The ids of routes for each provider, those that are active first. */
function choose(
  { provider, route: id }: CheckArguments,
  routes: readonly RouteOverview[],
  environment: Environment,
): Map<string, string[]> {
  const named = id === undefined ? routes : routes.filter((one) => one.id === id || one.aliases.includes(id));
  if (named.length === 0)
    throw new CommandError(`no route is named ${shown(id ?? '')}; gatehouse route list shows all`);
  const found = new Map<string, string[]>();
  const isAll = provider === undefined && id === undefined;
  for (const one of named.toSorted((a, b) => Number(b.isActive) - Number(a.isActive)))
    for (const { provider: target } of one.targets) {
      if (target.name === BUILT_IN || (provider !== undefined && target.name !== provider)) continue;
      if (isAll && !(one.isActive && isConfigured(target, environment))) continue;
      found.set(target.name, [...(found.get(target.name) ?? []), one.id]);
    }
  if (found.size > 0) return found;
  if (provider === BUILT_IN || isAll)
    throw new CommandError(
      provider === BUILT_IN
        ? `the provider ${BUILT_IN} is part of Gatehouse; there is nothing to check`
        : 'no active route has a provider whose credential is here; name a provider to check it all the same',
    );
  const known = [...new Set(named.flatMap(({ targets }) => targets.map((one) => one.provider.name)))];
  throw new CommandError(
    `the provider ${shown(provider ?? '')} has no such route; those that have are ${known.sort().map(shown).join(', ')}`,
  );
}

function isConfigured(
  { credentials }: RouteOverview['targets'][number]['provider'],
  environment: Environment,
): boolean {
  return (
    credentials.length === 0 || credentials.some(({ apiKeyEnv }) => hasPlatformKey(apiKeyEnv, environment))
  );
}

function checkDocument(check: ProviderCheck) {
  const { usage } = check;
  return {
    provider: check.provider,
    route: check.route,
    surface: check.surface,
    stream: check.isStream,
    ok: check.differences.length === 0,
    differences: check.differences,
    usage: usage
      ? {
          prompt_tokens: usage.promptTokens,
          completion_tokens: usage.completionTokens,
          cache_read_tokens: usage.cacheReadTokens ?? null,
          reasoning_tokens: usage.reasoningTokens ?? null,
        }
      : null,
    finish: check.finish ?? null,
    tool_call: check.hasToolCall,
    first_token_ms: check.firstTokenMs === undefined ? null : Math.round(check.firstTokenMs),
    total_ms: Math.round(check.totalMs),
    cost_pkr: Number(decimalFromMicroPkr(check.costMicroPkr)),
    error: check.error ?? null,
  };
}

const TITLES = [
  ...['PROVIDER', 'ROUTE', 'SURFACE', 'STREAM', 'OK', 'PROMPT', 'COMPLETION', 'FINISH', 'TOOL CALL'],
  ...['FIRST TOKEN', 'TOTAL', 'COST (PKR)'],
];

function row(check: ProviderCheck): string[] {
  const { usage, firstTokenMs } = check;
  return [
    ...[shown(check.provider), shown(check.route), check.surface, check.isStream ? 'yes' : 'no'],
    check.differences.length === 0 ? 'yes' : 'NO',
    ...[usage?.promptTokens, usage?.completionTokens].map((tokens) =>
      tokens === undefined ? '-' : String(tokens),
    ),
    ...[shown(check.finish ?? '-'), check.hasToolCall ? 'yes' : 'no'],
    ...[firstTokenMs, check.totalMs].map((ms) => (ms === undefined ? '-' : `${Math.round(ms)} ms`)),
    decimalFromMicroPkr(check.costMicroPkr),
  ];
}

function explanations({ provider, surface, isStream, differences, error }: ProviderCheck): string[] {
  if (differences.length === 0) return [];
  const about = `${shown(provider)}, ${surface}${isStream ? ', stream' : ''}`;
  return [
    ...differences.map((name) => `${about}: ${name}: ${DIFFERENCES[name]}`),
    ...(error === undefined ? [] : [`${about}: it said: ${shown(error)}`]),
  ];
}
