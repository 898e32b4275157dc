import type { Context } from '../context/context.ts';

/**
 * Whose capacity is used: where the organisation has stored its own key for a provider of the route, its own, and the
 * platform's otherwise. A record of the request says so from here on, whether it is sent or not.
 */
export function chooseCapacity({ route }: Pick<Context, 'route'>): Pick<Context, 'chosen'> {
  const own = route.targets.find(({ provider }) => route.vaultRecords.has(provider.name));
  return { chosen: { isByok: own !== undefined, target: own ?? route.targets[0] } };
}
