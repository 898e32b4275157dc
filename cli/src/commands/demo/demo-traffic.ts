import type { DemoOrganization } from '@gatehouse/control-plane';
import type { RouteOverview } from '@gatehouse/control-plane/catalogue';
import type { TrafficModel, TrafficProfile } from '@gatehouse/traffic';
import { KEYS, popularity, restrictedModels } from './plan.ts';

export interface Window {
  readonly startMicros: bigint;
  readonly endMicros: bigint;
}

/** The time at this share of the window. */
export function timeAtMicros({ startMicros, endMicros }: Window, share: number): bigint {
  return startMicros + BigInt(Math.round(Number(endMicros - startMicros) * share));
}

/** The organisation and all routes of the catalogue, as the generator's profile. */
export function trafficProfileOf(
  { id, keys }: DemoOrganization,
  routes: readonly RouteOverview[],
  window: Window,
): TrafficProfile {
  const only = restrictedModels(routes);
  return {
    models: routes.map(modelOf),
    organizations: [
      {
        id,
        weight: 1,
        keys: KEYS.map((plan, place) => {
          const key = keys[place];
          if (!key) throw new Error(`the key ${plan.name} was not made`);
          return {
            id: key.id,
            projectId: key.projectId,
            weight: plan.weight,
            rateLimitRpm: plan.rateLimitRpm,
            ...(plan.madeAt > 0 && { usedFromMicros: timeAtMicros(window, plan.madeAt) }),
            ...(plan.expiredAt && { expiresAtMicros: timeAtMicros(window, plan.expiredAt) }),
            ...(plan.isRestricted && only && { models: only }),
          };
        }),
      },
    ],
  };
}

function modelOf(route: RouteOverview): TrafficModel {
  const [target] = route.targets;
  if (!target) throw new Error(`the route ${route.id} has no target`);
  return {
    id: route.id,
    upstreamModel: target.upstreamModel,
    weight: popularity(route),
    inputMicroPkrPerMillion: BigInt(target.input),
    outputMicroPkrPerMillion: BigInt(target.output),
    cacheWriteMicroPkrPerMillion: BigInt(target.cacheWrite),
    cacheReadMicroPkrPerMillion: BigInt(target.cacheRead),
    byokFeeMillionths: BigInt(target.byokFeeMillionths),
    // The organisation has no provider key in the vault.
    byokShare: 0,
    timeoutMs: route.settings.timeout_ms,
    // It only echoes the prompt.
    ...(route.isBuiltIn && { firstTokenMs: 1.5, tokensPerSecond: 20_000 }),
  };
}
