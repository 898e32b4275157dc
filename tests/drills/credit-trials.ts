import assert from 'node:assert/strict';
import { sql, statement } from '@gatehouse/store';
import { eventually } from '../service-process.ts';
import { COST_MICRO_PKR, type Fleet } from './gateway-fleet.ts';

const WORTH = 100;
const AT_ONCE = 200;
const MIN_SERVED = 95;

const money = statement<{ keyId: string }, { spent: bigint; held: bigint; settled: bigint }>(
  'drill-money',
  sql`SELECT spent_micro_pkr AS spent, held_micro_pkr AS held,
          (SELECT coalesce(sum(cost_micro_pkr), 0) FROM settlements s WHERE s.key_id = k.id) AS settled
   FROM api_keys k WHERE id = ${'keyId'}`,
);

/**
 * Two hundred concurrent requests, half on each gateway, with a key whose limit covers one hundred. Resolves with the number
 * served. Throws when spend exceeds the limit, or too few were served.
 */
export async function trial(fleet: Fleet): Promise<number> {
  const limit = WORTH * COST_MICRO_PKR;
  const key = await fleet.mint({ credit_limit_cents: limit });
  const statuses = await Promise.all(
    Array.from({ length: AT_ONCE }, (_, index) => fleet.ask((index % 2) as 0 | 1, key.secret)),
  );
  const served = statuses.filter((status) => status === 200).length;
  // Refused because the credit is spent or held.
  const refused = statuses.filter((status) => status === 402 || status === 429).length;
  assert.equal(served + refused, AT_ONCE, statuses.join());
  assert.ok(served >= MIN_SERVED, `only ${served} of ${WORTH} were served`);
  const settled = await eventually(async () => {
    const row = await fleet.database.one(money, { keyId: key.id });
    assert.ok(row && row.spent <= limit && row.spent + row.held <= limit, 'past the limit');
    return row.held === 0n ? row : undefined;
  });
  assert.equal(settled.spent, BigInt(served * COST_MICRO_PKR));
  assert.equal(settled.settled, settled.spent);
  return served;
}
