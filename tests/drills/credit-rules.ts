import type { OrganizationId, RequestId } from '@gatehouse/contract';
import type { CreditWish, Route } from '@gatehouse/gateway/testing';
import { sql, statement } from '@gatehouse/store';

// The route, its prices and the accounts of credit-history.ts.

const DEFAULT_CAP = 40;
const FLOOR = 5;
const MAX_CAP = 60;
const TIER = 8;
const TARGET = {
  provider: { name: 'drill', protocol: 'openai' },
  inputMicroPkrPerMillion: 1_000_000n,
  outputMicroPkrPerMillion: 1_000_000n,
  cacheWriteMicroPkrPerMillion: 0n,
  cacheReadMicroPkrPerMillion: 0n,
  cacheWrite1hMicroPkrPerMillion: 2_000_000n,
  priceTiers: [
    {
      abovePromptTokens: BigInt(TIER),
      inputMicroPkrPerMillion: 3_000_000n,
      outputMicroPkrPerMillion: 2_000_000n,
      cacheWriteMicroPkrPerMillion: 0n,
      cacheReadMicroPkrPerMillion: 0n,
      cacheWrite1hMicroPkrPerMillion: 0n,
    },
  ],
  microPkrPerCall: new Map(),
  byokFeeMillionths: 500_000n,
};
export const ROUTE = {
  id: 'drill/model',
  targets: [TARGET],
  defaultOutputTokens: DEFAULT_CAP,
  minOutputTokens: FLOOR,
  maxOutputTokens: MAX_CAP,
  maxInputTokens: null,
  timeoutMs: 600_000,
  queueMs: 0,
} as unknown as Route;
export const INFINITE = 10n ** 18n;

export function capsOf({ outputCap = DEFAULT_CAP }: CreditWish): {
  readonly wanted: number;
  readonly floor: number;
} {
  const wanted = Math.min(outputCap, MAX_CAP);
  return { wanted, floor: Math.min(FLOOR, wanted) };
}

/**
 * The maximum cost with this cap: the prompt written to a cache for an hour, or in the tier that it reaches with half as
 * many tokens again; half of it with the organisation's own provider key.
 */
export function costOf({ promptTokens, choices, isByok }: CreditWish, outputCap: number): bigint {
  const generated = choices * outputCap;
  const plain = 2 * Math.min(promptTokens, TIER) + generated;
  const isReached = Math.floor(1.5 * promptTokens) > TIER;
  const most = isReached ? Math.max(plain, 3 * Math.max(promptTokens, TIER + 1) + 2 * generated) : plain;
  return BigInt(isByok ? Math.ceil(most / 2) : most);
}

export function describe(wish: CreditWish): string {
  const { keyId, promptTokens, choices, isByok } = wish;
  const { wanted, floor } = capsOf(wish);
  return `key ${keyId.slice(-4)}: ${promptTokens} and ${choices} times ${floor} to ${wanted}${isByok ? ', byok' : ''}:`;
}

/** How often each rule was checked. */
export interface Tally {
  granted: number;
  lowered: number;
  exhausted: number;
  held: number;
  refusalsExamined: number;
  surplusesExamined: number;
  crashes: number;
  settled: number;
}

export interface Account {
  readonly id: string;
  readonly limit: bigint | null;
  readonly spent: bigint;
  readonly held: bigint;
  readonly unsettled: bigint;
}

export function freeOf({ limit, spent, held }: Account): bigint {
  return (limit ?? INFINITE) - spent - held;
}

type OfOrganization = { organizationId: OrganizationId };

export const readAccounts = statement<OfOrganization, Account>(
  'drill-credit-accounts',
  sql`
    SELECT id, credit_limit_micro_pkr AS limit, spent_micro_pkr AS spent, held_micro_pkr AS held,
           unsettled_micro_pkr AS unsettled
    FROM api_keys WHERE organization_id = ${'organizationId'}
    UNION ALL
    SELECT organization_id, deposited_micro_pkr, spent_micro_pkr, held_micro_pkr, unsettled_micro_pkr
    FROM balances WHERE organization_id = ${'organizationId'}`,
);
export const expireHolds = statement<{ requestIds: readonly RequestId[] }>(
  'drill-credit-expire',
  sql`
    UPDATE holds SET deadline = clock_timestamp() - interval '1 second'
    WHERE request_id = ANY (${'requestIds'}::uuid[])`,
);
export const readSettlements = statement<OfOrganization, { id: string; key: string; cost: bigint }>(
  'drill-credit-settlements',
  sql`
    SELECT request_id AS id, key_id AS key, cost_micro_pkr AS cost
    FROM settlements WHERE organization_id = ${'organizationId'}`,
);

export const listHolds = statement<OfOrganization, { id: RequestId }>(
  'drill-credit-holds',
  sql`SELECT request_id AS id FROM holds WHERE organization_id = ${'organizationId'}`,
);
