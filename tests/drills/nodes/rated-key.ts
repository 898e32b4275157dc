import assert from 'node:assert/strict';
import { setRateLimit } from '../gateway-fleet.ts';
import type { NodesFleet } from './fleet.ts';
import { judgeRate } from './limit-judges.ts';
import type { Tenant } from './load.ts';
import { createCallers } from './requests.ts';

const LIMIT = 60;
const WINDOW_MS = 60_000;
const CALLERS = 3;
const PAUSE_MS = 150;

/** Sends more than a key's rate allows until the signal, and counts what was served in every 60 seconds over both gateways. */
export async function exceedRate(fleet: NodesFleet, tenant: Tenant, signal: AbortSignal): Promise<string> {
  const key = await tenant.mint();
  await fleet.database.run(setRateLimit, { keyId: key.id, rateLimitRpm: LIMIT });
  using callers = createCallers(fleet.balancer.gateway);
  await callers.keepAsking(key.secret, CALLERS, signal, PAUSE_MS);
  const served = callers.requests.filter(({ outcome }) => outcome === 'served');
  const most = judgeRate(served, LIMIT, WINDOW_MS);
  assert.ok(served.length > 0);
  return `${served.length} of ${callers.requests.length} served at ${LIMIT} a minute; at most ${most} in any 60 s`;
}
