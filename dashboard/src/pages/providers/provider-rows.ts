import type { Route, VaultKey } from '@gatehouse/sdk';

/** A provider of the catalogue or the vault. */
export interface ProviderRow {
  readonly provider: string;
  readonly models: readonly Pick<Route, 'id' | 'active'>[];
  /** The organisation's own key; undefined where it has none. */
  readonly key: VaultKey | undefined;
}

/** The providers that models of the catalogue name, and those that only the vault has; those with a key first. */
export function providerRows(
  routes: readonly Pick<Route, 'id' | 'active' | 'provider'>[],
  keys: readonly VaultKey[],
): readonly ProviderRow[] {
  const names = new Set([...routes.map(({ provider }) => provider), ...keys.map(({ provider }) => provider)]);
  return [...names]
    .map((provider) => ({
      provider,
      models: routes.filter((route) => route.provider === provider),
      key: keys.find((key) => key.provider === provider),
    }))
    .sort(
      (a, b) =>
        Number(b.key !== undefined) - Number(a.key !== undefined) || (a.provider < b.provider ? -1 : 1),
    );
}
