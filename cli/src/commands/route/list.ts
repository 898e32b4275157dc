import { DEFAULT_DENY, decimalFromMicroPkr, type MemberRule, providerFlags } from '@gatehouse/contract';
import {
  callPricesInPkr,
  flagMembers,
  listRouteOverviews,
  pricesInPkr,
  type RouteOverview,
  type TargetOverview,
} from '@gatehouse/control-plane/catalogue';
import { hasPlatformKey } from '../../config/platform-keys.ts';
import type { Context, Environment } from '../../terminal/command.ts';
import { columns, print, second, shown } from '../../terminal/output.ts';
import { withDatabase } from '../database.ts';

// A fee is kept in millionths of the price, and shown in percent.
const MILLIONTHS_PER_PERCENT = 10_000;

const TITLES = [
  ...[
    'ID',
    'ALIASES',
    'PROVIDER',
    'UPSTREAM MODEL',
    'PRIORITY',
    'WEIGHT',
    'CREDENTIALS',
    'ACTIVE',
    'ENDPOINTS',
  ],
  ...['INPUT', 'OUTPUT (PKR per million tokens)'],
];

export function listCatalogue(context: Context): Promise<number> {
  return withDatabase(context, async (database) => {
    const routes = await listRouteOverviews(database);
    const environment = context.environment();
    print(
      context,
      { routes: routes.map((route) => routeDocument(route, environment)) },
      routes.length === 0
        ? ['There is no route yet: the service loads its catalogue when it starts.']
        : [
            ...columns([TITLES, ...routes.flatMap((route) => routeRows(route, environment))]),
            ...unsetNote(routes, environment),
            ...coolingLines(routes),
          ],
    );
    return 0;
  });
}

/** A row for each target; what is the route's stands in the first. */
function routeRows(route: RouteOverview, environment: Environment): string[][] {
  return route.targets.map((target, index) => {
    const ofRoute = (cell: string) => (index === 0 ? cell : '');
    return [
      ofRoute(shown(route.id)),
      ofRoute(route.aliases.map(shown).join(',') || '-'),
      shown(target.provider.name),
      shown(target.upstreamModel),
      String(target.priority),
      String(target.weight),
      target.provider.credentials
        .map(({ name, apiKeyEnv }) => (hasPlatformKey(apiKeyEnv, environment) ? name : `${name} (not set)`))
        .join(', ') || '-',
      ofRoute(route.isActive ? 'yes' : 'no'),
      ofRoute(route.endpoints.join(',')),
      decimalFromMicroPkr(BigInt(target.input)),
      decimalFromMicroPkr(BigInt(target.output)),
    ];
  });
}

function unsetNote(routes: readonly RouteOverview[], environment: Environment): string[] {
  const credentials = routes.flatMap(({ targets }) =>
    targets.flatMap(({ provider }) => provider.credentials),
  );
  return credentials.every(({ apiKeyEnv }) => hasPlatformKey(apiKeyEnv, environment))
    ? []
    : ['', 'Not set: the variable is not in the environment of this command. A gateway may have it.'];
}

/** The upstreams that gateways do not use for now; an upstream of several routes once. */
function coolingLines(routes: readonly RouteOverview[]): string[] {
  const all = new Set(
    routes.flatMap(({ targets }) => targets.flatMap(({ cooling }) => cooling.map(coolingKey))),
  );
  return all.size === 0
    ? []
    : [
        '',
        'Cooling, until (UTC)',
        ...columns(Array.from(all, (key) => ['', ...(JSON.parse(key) as string[])])),
      ];
}

/** A row of text, as one value to compare. */
function coolingKey(row: TargetOverview['cooling'][number]): string {
  const { provider, upstreamModel, credential, until, reason, instance } = row;
  const cells = [
    provider,
    upstreamModel,
    credential || '-',
    second(until ?? ''),
    reason ?? '',
    `gateway ${instance}`,
  ];
  return JSON.stringify(cells.map(shown));
}

/** A route as JSON shows it. What depends on the target is that of the first target, as before there were several. */
function routeDocument(route: RouteOverview, environment: Environment) {
  const [first] = route.targets;
  const { allow: routeAllow, ...settings } = route.settings;
  return {
    id: route.id,
    aliases: route.aliases,
    ...(first && {
      provider: { ...providerDocument(first), api_key_env: first.provider.credentials[0]?.apiKeyEnv ?? null },
      ...targetDocument(first),
      deny: rulesDocument(first.provider.deny ?? DEFAULT_DENY),
      allow: rulesDocument([...first.provider.allow, ...routeAllow]),
    }),
    targets: route.targets.map((target) => ({
      provider: {
        ...providerDocument(target),
        credentials: target.provider.credentials.map(({ name, apiKeyEnv, weight }) => ({
          name,
          api_key_env: apiKeyEnv,
          weight,
          is_set_here: hasPlatformKey(apiKeyEnv, environment),
        })),
      },
      ...targetDocument(target),
      priority: target.priority,
      weight: target.weight,
      deny: rulesDocument(target.provider.deny ?? DEFAULT_DENY),
      allow: rulesDocument([...target.provider.allow, ...routeAllow]),
      cooling: target.cooling.map(({ instance, credential, until, reason }) => ({
        gateway: instance,
        credential,
        until,
        reason,
      })),
    })),
    endpoints: route.endpoints,
    active: route.isActive,
    built_in: route.isBuiltIn,
    ...settings,
  };
}

function targetDocument(target: TargetOverview) {
  return {
    upstream_model: target.upstreamModel,
    price_pkr_per_million: pricesInPkr(target),
    price_pkr_per_call: callPricesInPkr(target.pricePerCall),
    byok_fee_percent: target.byokFeeMillionths / MILLIONTHS_PER_PERCENT,
  };
}

/** With all flags, those that the catalogue leaves to the protocol too. */
function providerDocument({ provider }: TargetOverview) {
  const { name, protocol, baseUrl, outputLimit, flags } = provider;
  const stated = Object.entries(flagMembers(providerFlags(protocol, flags))).filter(
    ([, value]) => value !== null,
  );
  return { name, protocol, base_url: baseUrl, output_limit: outputLimit, ...Object.fromEntries(stated) };
}

/** As a catalogue file writes them. */
function rulesDocument(rules: readonly MemberRule[]) {
  return rules.map(({ member, values }) => (values === null ? member : { [member]: values }));
}
