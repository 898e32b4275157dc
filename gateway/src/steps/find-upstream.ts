import type { Provider, Route } from '../catalogue/queries.ts';
import { invalidRequest, upstreamNotConfigured } from '../http/gateway-error.ts';
import type { Dependencies } from '../pipeline/dependencies.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { Protocol } from '../protocols/protocol.ts';
import type { Upstream } from '../upstreams/upstream.ts';
import { openVaultKey } from '../vault/open-vault-key.ts';

export interface Destination {
  readonly upstream: Upstream;
  /** The organisation's own key for the provider, else the platform's; undefined when the provider takes none. */
  readonly apiKey: string | undefined;
}

/**
 * 400 for a provider that speaks another language than the endpoint, 502 for one that is not set up here. Where the
 * organisation has stored a key of its own for the provider it is that or nothing, and this is noted.
 */
export async function findUpstream(
  exchange: Exchange,
  route: Route,
  protocol: Protocol,
  dependencies: Pick<Dependencies, 'upstreams' | 'platformKey' | 'keyRing' | 'log'>,
): Promise<Destination> {
  const { upstreams, platformKey } = dependencies;
  const { provider, vaultRecord } = route;
  if (!protocol.providers.includes(provider.protocol)) {
    throw invalidRequest(
      `The model ${route.id} speaks the ${provider.protocol} protocol and cannot be used on this endpoint.`,
      'model',
    );
  }
  const upstream = upstreams.find(provider);
  if (!upstream) {
    throw upstreamNotConfigured(
      `The provider ${provider.name} has no usable base_url in this gateway's catalogue.`,
    );
  }
  if (!vaultRecord) return { upstream, apiKey: requiredKey(provider, platformKey) };
  exchange.isByok = true;
  return { upstream, apiKey: await openVaultKey(exchange, vaultRecord, dependencies) };
}

function requiredKey(provider: Provider, platformKey: Dependencies['platformKey']): string | undefined {
  if (provider.apiKeyEnv === null) return undefined;
  const apiKey = platformKey(provider.apiKeyEnv);
  if (apiKey === undefined || apiKey === '') {
    throw upstreamNotConfigured(
      `This gateway has no key for the provider ${provider.name}: its operator must set ${provider.apiKeyEnv}.`,
    );
  }
  return apiKey;
}
