import type { Parts } from '../parts.ts';
import type { Protocol } from '../protocols/protocol.ts';
import type { Provider, Route } from '../queries.ts';
import { invalidRequest, upstreamNotConfigured } from '../refusal.ts';
import type { Upstream } from '../upstreams/upstream.ts';

export interface Destination {
  readonly upstream: Upstream;
  /** The platform's key for the provider; undefined when the provider takes none. */
  readonly apiKey: string | undefined;
}

/** 400 for a provider that speaks another language than the endpoint, 502 for one that is not set up here. */
export function findUpstream(
  route: Route,
  protocol: Protocol,
  { upstreams, platformKey }: Pick<Parts, 'upstreams' | 'platformKey'>,
): Destination {
  const { provider } = route;
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
  return { upstream, apiKey: requiredKey(provider, platformKey) };
}

function requiredKey(provider: Provider, platformKey: Parts['platformKey']): string | undefined {
  if (provider.apiKeyEnv === null) return undefined;
  const apiKey = platformKey(provider.apiKeyEnv);
  if (apiKey === undefined || apiKey === '') {
    throw upstreamNotConfigured(
      `This gateway has no key for the provider ${provider.name}: its operator must set ${provider.apiKeyEnv}.`,
    );
  }
  return apiKey;
}
