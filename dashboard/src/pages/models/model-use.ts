import type { Route } from '@gatehouse/sdk';

/** The effect of naming a model in a request. */
export type ModelUse =
  | { readonly kind: 'inactive' }
  /** Requests go to these providers only, on the organisation's own keys. */
  | { readonly kind: 'own'; readonly providers: readonly string[] }
  /** `mayBring`: the providers that would take a key of the organisation. */
  | { readonly kind: 'platform'; readonly mayBring: readonly string[] };

/** As the gateway decides it: a key for any provider of an active route is used, and then only those providers are. */
export function modelUse(
  { active, byok_providers }: Pick<Route, 'active' | 'byok_providers'>,
  hasKey: (provider: string) => boolean,
): ModelUse {
  if (!active) return { kind: 'inactive' };
  const providers = byok_providers.filter(hasKey);
  return providers.length > 0 ? { kind: 'own', providers } : { kind: 'platform', mayBring: byok_providers };
}

export function useInWords(use: ModelUse): string {
  switch (use.kind) {
    case 'inactive':
      return 'A request that names it is answered with 404.';
    case 'own':
      return `Requests use your organisation’s key for ${use.providers.join(' and ')}: the provider bills you, and the cost here is the fee.`;
    default:
      return use.mayBring.length === 0
        ? 'Requests use the platform’s own capacity. It takes no key of yours.'
        : `Requests use the platform’s account at ${use.mayBring.join(' or ')}. Where your operator has none, they are answered with 503; a key of your own, stored under Providers, is used instead.`;
  }
}
