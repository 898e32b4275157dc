import type { MemberRule } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import * as queries from './queries.ts';

/** A route as the operator sees it. */
export interface RouteOverview {
  readonly id: string;
  readonly provider: string;
  readonly protocol: string;
  /** Null for the built-in provider. */
  readonly baseUrl: string | null;
  /** The variable with the platform's own key; null when the provider takes none. */
  readonly apiKeyEnv: string | null;
  readonly outputLimit: string;
  /** What requests may not hold on the platform's own key; null for the default list. */
  readonly deny: readonly MemberRule[] | null;
  /** What the provider allows besides, then what the route does. */
  readonly allow: readonly MemberRule[];
  readonly upstreamModel: string;
  readonly endpoints: readonly string[];
  readonly isActive: boolean;
  /** Put there by the service and not by a file. */
  readonly isBuiltIn: boolean;
  readonly inputMicroPkrPerMillion: bigint;
  readonly outputMicroPkrPerMillion: bigint;
  readonly cacheWriteMicroPkrPerMillion: bigint;
  readonly cacheReadMicroPkrPerMillion: bigint;
  readonly byokFeeMillionths: bigint;
  readonly maxOutputTokens: bigint;
  readonly defaultOutputTokens: bigint;
  readonly minOutputTokens: bigint;
  /** Null where the catalogue does not say. */
  readonly maxInputTokens: bigint | null;
  readonly timeoutMs: number;
}

/** Every route there is, inactive ones too, by id. */
export function listRouteOverviews(database: Database): Promise<RouteOverview[]> {
  return database.many(queries.listRouteOverviews);
}

export interface RouteSwitch {
  /** False when it was so already. */
  readonly hasChanged: boolean;
  readonly isBuiltIn: boolean;
}

/** Puts a route in or out of service, from the next request on; undefined when there is none of this id. */
export function switchRoute(
  database: Database,
  id: string,
  isActive: boolean,
): Promise<RouteSwitch | undefined> {
  return database.transaction(async (tx) => {
    await tx.run(queries.lockRoutes);
    const route = await tx.one(queries.findRoute, [id]);
    if (!route) return undefined;
    const hasChanged = route.isActive !== isActive;
    if (hasChanged) await tx.run(queries.switchRoute, [id, isActive]);
    return { hasChanged, isBuiltIn: route.isBuiltIn };
  });
}
