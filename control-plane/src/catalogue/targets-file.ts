import { MAX_ROUTE_ID_LENGTH } from '@gatehouse/contract';
import { z } from 'zod';
import { weight } from './credentials-file.ts';
import { text } from './file-text.ts';
import { CallPrices, Price } from './price-file.ts';
import { percent } from './written-number.ts';

// The file format of a route's targets: one, as `provider` and `upstream_model`, or a list, as `targets`.

export const MAX_TARGETS = 16;
const LAST_PRIORITY = 100;

export const upstreamModel = text(
  (value) => value.trim() !== '' && value.length <= MAX_ROUTE_ID_LENGTH,
  `1 to ${MAX_ROUTE_ID_LENGTH} characters`,
);

/** Members that a route states once, and a target may state otherwise. */
export const PRICE_MEMBERS = {
  price_pkr_per_million: Price.optional(),
  price_pkr_per_call: CallPrices.optional(),
  byok_fee_percent: percent.optional(),
};

export const TargetMembers = z.strictObject({
  provider: z.string(),
  upstream_model: upstreamModel,
  ...PRICE_MEMBERS,
  weight,
  priority: z.int().min(1).max(LAST_PRIORITY).default(1),
});

export const Targets = z
  .array(TargetMembers)
  .min(1)
  .max(MAX_TARGETS, { error: `must have at most ${MAX_TARGETS} targets` });

/** A model of a provider that can answer for a route, with all its prices. */
export interface CatalogueTarget {
  readonly provider: string;
  readonly upstream_model: string;
  readonly price_pkr_per_million: Price;
  readonly price_pkr_per_call: Readonly<Record<string, bigint>>;
  /** In millionths. */
  readonly byok_fee_percent: bigint;
  readonly weight: number;
  readonly priority: number;
}

type Prices = z.output<z.ZodObject<typeof PRICE_MEMBERS>>;

interface Stated extends Prices {
  readonly provider?: string | undefined;
  readonly upstream_model?: string | undefined;
  readonly targets?: readonly z.output<typeof TargetMembers>[] | undefined;
}

/**
 * The targets of a route of the file. What a target does not state is the route's. A target without a price is left out:
 * `findInconsistencies` names it, and the file is not used.
 */
export function targetsOf(route: Stated): readonly CatalogueTarget[] {
  const { provider, upstream_model, targets } = route;
  const only =
    provider === undefined || upstream_model === undefined
      ? []
      : [{ provider, upstream_model, weight: 1, priority: 1 }];
  return (targets ?? only).flatMap((target: z.output<typeof TargetMembers>) => {
    const price = target.price_pkr_per_million ?? route.price_pkr_per_million;
    if (!price) return [];
    return [
      {
        provider: target.provider,
        upstream_model: target.upstream_model,
        price_pkr_per_million: price,
        price_pkr_per_call: target.price_pkr_per_call ?? route.price_pkr_per_call ?? {},
        byok_fee_percent: target.byok_fee_percent ?? route.byok_fee_percent ?? 0n,
        weight: target.weight,
        priority: target.priority,
      },
    ];
  });
}
