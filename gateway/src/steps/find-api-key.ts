import type { Provider } from '../catalogue/queries.ts';
import { upstreamNotConfigured } from '../http/upstream-errors.ts';
import type { Context } from '../pipeline/context.ts';
import type { Dependencies } from '../pipeline/dependencies.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { openVaultKey } from '../vault/open-vault-key.ts';

/**
 * The key that the provider is called with: the organisation's own where it has stored one, and then never the
 * platform's. 502 or 503 where it cannot be had.
 */
export async function findApiKey(
  { route: { provider, vaultRecord } }: Pick<Context, 'route'>,
  { id }: Pick<Exchange, 'id'>,
  dependencies: Pick<Dependencies, 'platformKey' | 'keyRing' | 'log'>,
): Promise<Pick<Context, 'apiKey'>> {
  if (!vaultRecord) return { apiKey: requiredKey(provider, dependencies.platformKey) };
  return { apiKey: await openVaultKey(id, vaultRecord, dependencies) };
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
