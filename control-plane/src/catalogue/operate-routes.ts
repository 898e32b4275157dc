import { outputCapsOf } from '@gatehouse/contract';
import type { Database, Queryable } from '@gatehouse/store';
import * as queries from './queries.ts';
import type { RouteSettings } from './route-settings.ts';
import type { StoredTarget } from './stored-targets.ts';

/** A route as the operator sees it. */
export interface RouteOverview extends Omit<queries.RouteRow, 'targets'> {
  readonly targets: readonly TargetOverview[];
}

export interface TargetOverview extends Omit<StoredTarget, 'provider'> {
  readonly provider: queries.ProviderRow;
  /** Its credentials that gateways do not use for now, one entry for each gateway process. */
  readonly cooling: readonly queries.CoolingRow[];
}

/** All routes, including inactive ones, by id. */
export async function listRouteOverviews(database: Queryable): Promise<RouteOverview[]> {
  const [routes, providers, cooling] = await Promise.all([
    database.many(queries.listRouteRows),
    database.many(queries.listProviders),
    database.many(queries.listCooling),
  ]);
  const providerOf = new Map(providers.map((provider) => [provider.name, provider]));
  return routes.map((route) => ({
    ...route,
    settings: withOutputCaps(route.settings),
    targets: route.targets.flatMap((target) => {
      const provider = providerOf.get(target.provider);
      // A route and its provider that were added between the statements.
      if (!provider) return [];
      const { upstreamModel } = target;
      const isOfTarget = (row: queries.CoolingRow) =>
        row.provider === provider.name && row.upstreamModel === upstreamModel;
      return [{ ...target, provider, cooling: cooling.filter(isOfTarget) }];
    }),
  }));
}

/** With the output caps that the gateway takes where the catalogue leaves them out. */
function withOutputCaps(settings: RouteSettings): RouteSettings {
  const { max_output_tokens: most, default_output_tokens, min_output_tokens } = settings;
  const { usual, least } = outputCapsOf(most, default_output_tokens, min_output_tokens);
  return { ...settings, default_output_tokens: usual, min_output_tokens: least };
}

export interface RouteSwitch {
  /** False when the route was already in this state. */
  readonly hasChanged: boolean;
  readonly isBuiltIn: boolean;
  /** The route that has this one's id as an alias, which keeps it inactive. */
  readonly aliasOf?: string;
}

/** Activates or deactivates a route from the next request on; undefined when no route has this id. */
export function switchRoute(
  database: Database,
  id: string,
  isActive: boolean,
): Promise<RouteSwitch | undefined> {
  return database.transaction(async (tx) => {
    await tx.run(queries.lockRoutes);
    const route = await tx.one(queries.findRoute, { id });
    if (!route) return undefined;
    const { isBuiltIn } = route;
    if (isActive && route.aliasOf !== null) return { hasChanged: false, isBuiltIn, aliasOf: route.aliasOf };
    const hasChanged = route.isActive !== isActive;
    if (hasChanged) await tx.run(queries.switchRoute, { id, isActive });
    return { hasChanged, isBuiltIn };
  });
}
