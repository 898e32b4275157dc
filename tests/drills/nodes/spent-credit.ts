import assert from 'node:assert/strict';
import { sql, statement } from '@gatehouse/store';
import { COST_MICRO_PKR } from '../gateway-fleet.ts';
import type { NodesFleet } from './fleet.ts';
import { judgeSpending, type Spending } from './limit-judges.ts';
import { signUpTenant, type Tenant } from './load.ts';
import { createCallers } from './requests.ts';
import { unlessAway } from './revoked-keys.ts';

const WORTH = 20;
const AT_ONCE = 40;
/** More requests of the dear model than a whole balance covers. */
const DEAR_AT_ONCE = 60;

const findKey = statement<{ keyId: string }, Spending>(
  'drill-nodes-credit',
  sql`SELECT spent_micro_pkr AS spent, held_micro_pkr AS held FROM api_keys WHERE id = ${'keyId'}`,
);
const findBalance = statement<{ organizationId: string }, Spending & { deposited: bigint }>(
  'drill-nodes-balance',
  sql`SELECT deposited_micro_pkr AS deposited, spent_micro_pkr AS spent, held_micro_pkr AS held FROM balances
   WHERE organization_id = ${'organizationId'}`,
);

/** Twice as many requests at once as a key's limit covers, and more than a balance covers, again and again until the signal. */
export async function exceedCredit(fleet: NodesFleet, tenant: Tenant, signal: AbortSignal): Promise<string> {
  using callers = createCallers(fleet.balancer.gateway);
  const counts = { limits: 0, balances: 0, most: 0, mostDear: 0 };
  const atOnce = async (count: number, secret: string, model?: string) => {
    const requests = await Promise.all(Array.from({ length: count }, () => callers.send(secret, model)));
    return requests.filter(({ outcome }) => outcome === 'served').length;
  };
  const exceedBalance = async () => {
    using poor = await signUpTenant(fleet);
    const key = await poor.mint();
    const served = await atOnce(DEAR_AT_ONCE, key.secret, 'mock/dear');
    const money = await fleet.database.one(findBalance, { organizationId: poor.id });
    judgeSpending(money, money?.deposited ?? 0n, { served });
    counts.balances += 1;
    counts.mostDear = Math.max(counts.mostDear, served);
  };
  while (!signal.aborted) {
    const limit = WORTH * COST_MICRO_PKR;
    const key = await tenant.mint({ credit_limit_cents: limit }).catch(unlessAway);
    if (key === undefined) continue;
    const served = await atOnce(AT_ONCE, key.secret);
    const money = await fleet.database.one(findKey, { keyId: key.id });
    judgeSpending(money, BigInt(limit), { served, worth: WORTH });
    counts.limits += 1;
    counts.most = Math.max(counts.most, served);
    await exceedBalance().catch(unlessAway);
  }
  assert.ok(counts.limits > 0 && counts.balances > 0);
  return `${counts.limits} limits worth ${WORTH} requests and ${counts.balances} balances worth 49, each with more at once: at most ${counts.most} and ${counts.mostDear} served, nothing past a limit or a balance`;
}
