import type { GatewayEndpoint, MemberRule, ProviderProtocol, StatedProviderFlags } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import * as queries from './queries.ts';

/** A route as the operator sees it. */
export interface RouteOverview {
  readonly id: string;
  readonly aliases: readonly string[];
  readonly provider: string;
  readonly protocol: ProviderProtocol;
  /** Null for the built-in provider. */
  readonly baseUrl: string | null;
  /** The environment variable with the platform's key; null when the provider needs none. */
  readonly apiKeyEnv: string | null;
  readonly outputLimit: string;
  /** Those that the catalogue states. */
  readonly flags: StatedProviderFlags;
  /** Request members denied on the platform's key; null for the default list. */
  readonly deny: readonly MemberRule[] | null;
  /** Exceptions of the provider, then those of the route. */
  readonly allow: readonly MemberRule[];
  readonly upstreamModel: string;
  readonly endpoints: readonly GatewayEndpoint[];
  readonly isActive: boolean;
  /** Added by the service, not by a file. */
  readonly isBuiltIn: boolean;
  readonly inputMicroPkrPerMillion: bigint;
  readonly outputMicroPkrPerMillion: bigint;
  readonly cacheWriteMicroPkrPerMillion: bigint;
  readonly cacheReadMicroPkrPerMillion: bigint;
  readonly cacheWrite1hMicroPkrPerMillion: bigint;
  readonly priceTiers: readonly queries.StoredTier[];
  readonly pricePerCall: queries.StoredCallPrices;
  readonly byokFeeMillionths: bigint;
  readonly maxOutputTokens: bigint;
  readonly defaultOutputTokens: bigint;
  readonly minOutputTokens: bigint;
  /** Null when the catalogue sets none. */
  readonly maxInputTokens: bigint | null;
  readonly timeoutMs: number;
}

/** All routes, including inactive ones, by id. */
export function listRouteOverviews(database: Database): Promise<RouteOverview[]> {
  return database.many(queries.listRouteOverviews);
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
