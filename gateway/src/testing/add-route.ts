import type { MemberRule, StatedProviderFlags } from '@gatehouse/contract';
import { type Database, sql, statement } from '@gatehouse/store';
import type { PriceTier, Provider } from '../catalogue/queries.ts';

export const ROUTE_TIMEOUT_MS = 30_000;

const insertProvider = statement<{
  name: string;
  protocol: string;
  baseUrl: string | null;
  apiKeyEnv: string | null;
  outputLimit: Provider['outputLimit'];
  flags: string;
  deny: string | null;
}>(
  'gateway-test-insert-provider',
  sql`
    INSERT INTO providers (name, protocol, base_url, api_key_env, output_limit, flags, deny)
    VALUES (${'name'}, ${'protocol'}, ${'baseUrl'}, ${'apiKeyEnv'}, ${'outputLimit'}, ${'flags'}, ${'deny'})`,
);
const insertRoute = statement<{
  id: string;
  provider: string;
  endpoints: readonly string[];
  inputMicroPkrPerMillion: bigint;
  outputMicroPkrPerMillion: bigint;
  cacheWriteMicroPkrPerMillion: bigint;
  cacheReadMicroPkrPerMillion: bigint;
  cacheWrite1hMicroPkrPerMillion: bigint;
  priceTiers: string;
  pricePerCall: string;
  maxOutputTokens: number;
  timeoutMs: number;
  isActive: boolean;
  defaultOutputTokens: number | null;
  minOutputTokens: number | null;
  maxInputTokens: number | null;
  allow: string;
}>(
  'gateway-test-insert-route',
  sql`
    INSERT INTO routes (id, provider, upstream_model, endpoints, input_micro_pkr_per_million,
                        output_micro_pkr_per_million, cache_write_micro_pkr_per_million,
                        cache_read_micro_pkr_per_million, cache_write_1h_micro_pkr_per_million, price_tiers,
                        price_per_call, byok_fee_millionths, max_output_tokens, timeout_ms, is_active,
                        default_output_tokens, min_output_tokens, max_input_tokens, allow)
    VALUES (${'id'}, ${'provider'}, 'upstream-model', ${'endpoints'}, ${'inputMicroPkrPerMillion'},
            ${'outputMicroPkrPerMillion'}, ${'cacheWriteMicroPkrPerMillion'}, ${'cacheReadMicroPkrPerMillion'},
            ${'cacheWrite1hMicroPkrPerMillion'}, ${'priceTiers'}, ${'pricePerCall'}, 50000, ${'maxOutputTokens'}, ${'timeoutMs'}, ${'isActive'},
            ${'defaultOutputTokens'}, ${'minOutputTokens'}, ${'maxInputTokens'}, ${'allow'})`,
);

const insertAliases = statement<{ id: string; aliases: readonly string[] }>(
  'gateway-test-insert-aliases',
  sql`INSERT INTO route_aliases (alias, route_id) SELECT alias, ${'id'} FROM unnest(${'aliases'}::text[]) AS alias`,
);

/** A provider of its own with one route. */
export async function addRoute(
  database: Database,
  options: {
    readonly id?: string;
    readonly protocol?: string;
    readonly baseUrl?: string | null;
    readonly apiKeyEnv?: string | null;
    readonly endpoints?: readonly string[];
    readonly inputMicroPkrPerMillion?: bigint;
    readonly outputMicroPkrPerMillion?: bigint;
    /** 0 unless given; the one-hour price is the other write price. */
    readonly cacheWriteMicroPkrPerMillion?: bigint;
    readonly cacheReadMicroPkrPerMillion?: bigint;
    readonly cacheWrite1hMicroPkrPerMillion?: bigint;
    readonly priceTiers?: readonly PriceTier[];
    readonly microPkrPerCall?: Readonly<Record<string, bigint>>;
    readonly maxOutputTokens?: number;
    readonly defaultOutputTokens?: number;
    readonly minOutputTokens?: number;
    readonly maxInputTokens?: number;
    readonly outputLimit?: Provider['outputLimit'];
    readonly flags?: StatedProviderFlags;
    readonly aliases?: readonly string[];
    /** The default list unless given. */
    readonly deny?: readonly MemberRule[];
    readonly allow?: readonly MemberRule[];
    readonly timeoutMs?: number;
    readonly isActive?: boolean;
  },
): Promise<void> {
  const id = options.id ?? 'mock/model';
  const { baseUrl = null, apiKeyEnv = 'MOCK_API_KEY' } = options;
  const provider = `provider of ${id}`;
  await database.run(insertProvider, {
    name: provider,
    protocol: options.protocol ?? 'openai',
    baseUrl,
    apiKeyEnv,
    outputLimit: options.outputLimit ?? 'max_completion_tokens',
    flags: JSON.stringify(options.flags ?? {}),
    deny: options.deny ? JSON.stringify(options.deny) : null,
  });
  await database.run(insertRoute, {
    id,
    provider,
    endpoints: options.endpoints ?? ['chat'],
    inputMicroPkrPerMillion: options.inputMicroPkrPerMillion ?? 70_000_000n,
    outputMicroPkrPerMillion: options.outputMicroPkrPerMillion ?? 560_000_000n,
    cacheWriteMicroPkrPerMillion: options.cacheWriteMicroPkrPerMillion ?? 0n,
    cacheReadMicroPkrPerMillion: options.cacheReadMicroPkrPerMillion ?? 0n,
    cacheWrite1hMicroPkrPerMillion:
      options.cacheWrite1hMicroPkrPerMillion ?? options.cacheWriteMicroPkrPerMillion ?? 0n,
    priceTiers: JSON.stringify((options.priceTiers ?? []).map(storedTier)),
    pricePerCall: JSON.stringify(
      Object.fromEntries(
        Object.entries(options.microPkrPerCall ?? {}).map(([call, price]) => [call, Number(price)]),
      ),
    ),
    maxOutputTokens: options.maxOutputTokens ?? 1_000,
    timeoutMs: options.timeoutMs ?? ROUTE_TIMEOUT_MS,
    isActive: options.isActive ?? true,
    defaultOutputTokens: options.defaultOutputTokens ?? null,
    minOutputTokens: options.minOutputTokens ?? null,
    maxInputTokens: options.maxInputTokens ?? null,
    allow: JSON.stringify(options.allow ?? []),
  });
  if (options.aliases) await database.run(insertAliases, { id, aliases: options.aliases });
}

function storedTier(tier: PriceTier) {
  return {
    abovePromptTokens: Number(tier.abovePromptTokens),
    input: Number(tier.inputMicroPkrPerMillion),
    output: Number(tier.outputMicroPkrPerMillion),
    cacheWrite: Number(tier.cacheWriteMicroPkrPerMillion),
    cacheRead: Number(tier.cacheReadMicroPkrPerMillion),
    cacheWrite1h: Number(tier.cacheWrite1hMicroPkrPerMillion),
  };
}
