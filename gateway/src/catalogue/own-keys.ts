import type { Route } from './route.ts';

/**
 * The route with those of an organisation's stored keys that are for a provider of its targets. A provider that takes no key
 * is platform capacity whatever the vault holds. Guarded by byok.http.test.ts.
 */
export function withOwnKeys(route: Route, records: Route['vaultRecords']): Route {
  if (records.size === 0) return route;
  const vaultRecords: Route['vaultRecords'] = new Map(
    route.targets.flatMap(({ provider: { name, credentials } }) => {
      const record = credentials.length > 0 ? records.get(name) : undefined;
      return record ? [[name, record] as const] : [];
    }),
  );
  return { ...route, vaultRecords };
}
