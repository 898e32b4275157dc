import type { Credential } from '../catalogue/route.ts';
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
  { route: { vaultRecords }, target: { provider } }: Pick<Context, 'route' | 'target'>,
  { id }: Pick<Exchange, 'id'>,
  dependencies: Pick<Dependencies, 'platformKey' | 'keyRing' | 'log'>,
): Promise<Pick<Context, 'credential' | 'apiKey'>> {
  const vaultRecord = vaultRecords.get(provider.name);
  if (vaultRecord)
    return { credential: undefined, apiKey: await openVaultKey(id, vaultRecord, dependencies) };
  const [credential] = provider.credentials;
  return {
    credential,
    apiKey: credential && requiredKey(provider.name, credential, dependencies.platformKey),
  };
}

function requiredKey(
  provider: string,
  { apiKeyEnv }: Credential,
  platformKey: Dependencies['platformKey'],
): string {
  const apiKey = platformKey(apiKeyEnv);
  if (apiKey === undefined || apiKey === '') {
    throw upstreamNotConfigured(
      `This gateway has no key for the provider ${provider}: its operator must set ${apiKeyEnv}.`,
    );
  }
  return apiKey;
}
