import {
  type Database,
  memberName,
  ROUTE_SETTING_COLUMNS,
  ROUTE_SETTINGS,
  sql,
  statement,
} from '@gatehouse/store';
import type { PriceTier, RouteSettings } from '../catalogue/route.ts';
import { addProvider, type TestProvider } from './add-provider.ts';

export const ROUTE_TIMEOUT_MS = 30_000;

const DEFAULT_SETTINGS: Partial<RouteSettings> = {
  maxOutputTokens: 1_000,
  timeoutMs: ROUTE_TIMEOUT_MS,
  maxAttempts: 3,
  queueMs: 0,
  allow: [],
};

const insertRoute = statement<{
  id: string;
  endpoints: readonly string[];
  isActive: boolean;
  settings: string;
}>(
  'gateway-test-insert-route',
  sql`
    INSERT INTO routes (id, endpoints, is_active, ${ROUTE_SETTING_COLUMNS})
    SELECT ${'id'}, ${'endpoints'}, ${'isActive'}, ${ROUTE_SETTING_COLUMNS}
    FROM jsonb_populate_record(NULL::routes, ${'settings'}::jsonb)`,
);
const insertTarget = statement<{
  routeId: string;
  position: number;
  provider: string;
  upstreamModel: string;
  inputMicroPkrPerMillion: bigint;
  outputMicroPkrPerMillion: bigint;
  cacheWriteMicroPkrPerMillion: bigint;
  cacheReadMicroPkrPerMillion: bigint;
  cacheWrite1hMicroPkrPerMillion: bigint;
  priceTiers: string;
  pricePerCall: string;
  byokFeeMillionths: bigint;
  priority: number;
  weight: number;
}>(
  'gateway-test-insert-target',
  sql`
    INSERT INTO route_targets (route_id, position, provider, upstream_model, input_micro_pkr_per_million,
                               output_micro_pkr_per_million, cache_write_micro_pkr_per_million,
                               cache_read_micro_pkr_per_million, cache_write_1h_micro_pkr_per_million, price_tiers,
                               price_per_call, byok_fee_millionths, priority, weight)
    VALUES (${'routeId'}, ${'position'}, ${'provider'}, ${'upstreamModel'}, ${'inputMicroPkrPerMillion'},
            ${'outputMicroPkrPerMillion'}, ${'cacheWriteMicroPkrPerMillion'}, ${'cacheReadMicroPkrPerMillion'},
            ${'cacheWrite1hMicroPkrPerMillion'}, ${'priceTiers'}, ${'pricePerCall'}, ${'byokFeeMillionths'},
            ${'priority'}, ${'weight'})`,
);

const insertAliases = statement<{ id: string; aliases: readonly string[] }>(
  'gateway-test-insert-aliases',
  sql`INSERT INTO route_aliases (alias, route_id) SELECT alias, ${'id'} FROM unnest(${'aliases'}::text[]) AS alias`,
);

export interface TestTarget extends TestProvider {
  /** `provider of ID` unless given, and `provider 2 of ID` for the second target. Two targets may name the same one. */
  readonly provider?: string;
  /** `upstream-model` unless given. */
  readonly upstreamModel?: string;
  readonly inputMicroPkrPerMillion?: bigint;
  readonly outputMicroPkrPerMillion?: bigint;
  /** 0 unless given; the one-hour price is the other write price. */
  readonly cacheWriteMicroPkrPerMillion?: bigint;
  readonly cacheReadMicroPkrPerMillion?: bigint;
  readonly cacheWrite1hMicroPkrPerMillion?: bigint;
  readonly priceTiers?: readonly PriceTier[];
  readonly microPkrPerCall?: Readonly<Record<string, bigint>>;
  /** 5 % unless given. */
  readonly byokFeeMillionths?: bigint;
  readonly priority?: number;
  readonly weight?: number;
}

/** A route with one target, described by the same options, or with `targets`, for which they are the defaults. */
export async function addRoute(
  database: Database,
  {
    targets = [{}],
    ...options
  }: TestTarget &
    Partial<RouteSettings> & {
      readonly id?: string;
      readonly targets?: readonly TestTarget[];
      readonly endpoints?: readonly string[];
      readonly aliases?: readonly string[];
      readonly isActive?: boolean;
    },
): Promise<void> {
  const { id = 'mock/model', aliases } = options;
  await database.run(insertRoute, {
    id,
    endpoints: options.endpoints ?? ['chat'],
    isActive: options.isActive ?? true,
    settings: JSON.stringify(
      Object.fromEntries(
        ROUTE_SETTINGS.map((column) => [
          column,
          { ...DEFAULT_SETTINGS, ...options }[memberName(column) as keyof RouteSettings],
        ]),
      ),
    ),
  });
  for (const [position, target] of targets.entries())
    await addTarget(database, id, position, { ...options, ...target });
  if (aliases) await database.run(insertAliases, { id, aliases });
}

async function addTarget(database: Database, routeId: string, position: number, target: TestTarget) {
  const { provider = `provider ${position === 0 ? '' : `${position + 1} `}of ${routeId}` } = target;
  await addProvider(database, provider, target);
  const { cacheWriteMicroPkrPerMillion = 0n } = target;
  await database.run(insertTarget, {
    routeId,
    position,
    provider,
    upstreamModel: target.upstreamModel ?? 'upstream-model',
    inputMicroPkrPerMillion: target.inputMicroPkrPerMillion ?? 70_000_000n,
    outputMicroPkrPerMillion: target.outputMicroPkrPerMillion ?? 560_000_000n,
    cacheWriteMicroPkrPerMillion,
    cacheReadMicroPkrPerMillion: target.cacheReadMicroPkrPerMillion ?? 0n,
    cacheWrite1hMicroPkrPerMillion: target.cacheWrite1hMicroPkrPerMillion ?? cacheWriteMicroPkrPerMillion,
    priceTiers: JSON.stringify((target.priceTiers ?? []).map(storedTier)),
    pricePerCall: JSON.stringify(
      Object.fromEntries(
        Object.entries(target.microPkrPerCall ?? {}).map(([call, price]) => [call, Number(price)]),
      ),
    ),
    byokFeeMillionths: target.byokFeeMillionths ?? 50_000n,
    priority: target.priority ?? 1,
    weight: target.weight ?? 1,
  });
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
