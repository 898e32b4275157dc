import type { MemberRule, StatedProviderFlags } from '@gatehouse/contract';
import { type Database, sql, statement } from '@gatehouse/store';
import type { Provider } from '../catalogue/route.ts';

const insertProvider = statement<{
  name: string;
  protocol: string;
  baseUrl: string | null;
  outputLimit: Provider['outputLimit'];
  flags: string;
  deny: string | null;
}>(
  'gateway-test-insert-provider',
  sql`
    INSERT INTO providers (name, protocol, base_url, output_limit, flags, deny)
    VALUES (${'name'}, ${'protocol'}, ${'baseUrl'}, ${'outputLimit'}, ${'flags'}, ${'deny'})
    ON CONFLICT (name) DO NOTHING`,
);
const insertCredentials = statement<{
  provider: string;
  names: readonly string[];
  apiKeyEnvs: readonly string[];
  weights: readonly number[];
}>(
  'gateway-test-insert-credentials',
  sql`
    INSERT INTO provider_credentials (provider, name, position, api_key_env, weight)
    SELECT ${'provider'}, c.name, c.position - 1, c.api_key_env, c.weight
    FROM unnest(${'names'}::text[], ${'apiKeyEnvs'}::text[], ${'weights'}::integer[])
      WITH ORDINALITY AS c (name, api_key_env, weight, position)
    ON CONFLICT DO NOTHING`,
);

export interface TestCredential {
  readonly name: string;
  readonly apiKeyEnv: string;
  /** 1 unless given. */
  readonly weight?: number;
}

export interface TestProvider {
  readonly protocol?: string;
  readonly baseUrl?: string | null;
  /** The variable of its one credential, MOCK_API_KEY unless given; null where it takes no key. */
  readonly apiKeyEnv?: string | null;
  /** Instead of `apiKeyEnv`. */
  readonly credentials?: readonly TestCredential[];
  readonly outputLimit?: Provider['outputLimit'];
  readonly flags?: StatedProviderFlags;
  /** The default list unless given. */
  readonly deny?: readonly MemberRule[];
}

/** A provider that is there already stays as it is. */
export async function addProvider(database: Database, name: string, options: TestProvider): Promise<void> {
  const { apiKeyEnv = 'MOCK_API_KEY' } = options;
  const credentials = options.credentials ?? (apiKeyEnv === null ? [] : [{ name: 'default', apiKeyEnv }]);
  await database.run(insertProvider, {
    name,
    protocol: options.protocol ?? 'openai',
    baseUrl: options.baseUrl ?? null,
    outputLimit: options.outputLimit ?? 'max_completion_tokens',
    flags: JSON.stringify(options.flags ?? {}),
    deny: options.deny ? JSON.stringify(options.deny) : null,
  });
  await database.run(insertCredentials, {
    provider: name,
    names: credentials.map((credential) => credential.name),
    apiKeyEnvs: credentials.map((credential) => credential.apiKeyEnv),
    weights: credentials.map(({ weight = 1 }: TestCredential) => weight),
  });
}
