import assert from 'node:assert/strict';
import type { Drill } from '../drill.ts';
import { contestHeadroom } from './contested-headroom.ts';

import { judgeLoad } from './judge.ts';
import { signUpTenant, startLoad } from './load.ts';
import { overFleet } from './over-fleet.ts';
import { exceedRate } from './rated-key.ts';
import { summary } from './requests.ts';
import { revokeKeys } from './revoked-keys.ts';
import { exceedCredit } from './spent-credit.ts';
import { failuresOf, type Trouble, troubleNodes } from './troubles.ts';

// Revocation, rate, credit and headroom over two APIs and two gateways behind nginx, all at once, while nodes are killed and started
// again and one is cut off from the database. Each rule has an organisation of its own. Beside them runs a load of changes and model requests
// whose answers are compared with the ledger, the request log, the activity log and the provider's bill.

export const drill: Drill = overFleet(async (fleet, { cycles, log }) => {
  if (!fleet.hasRedis) log('without Redis each gateway counts rates by itself: the rate is not checked');
  const rules = {
    revocation: revokeKeys,
    credit: exceedCredit,
    headroom: contestHeadroom,
    ...(fleet.hasRedis && { rate: exceedRate }),
  };
  using tenants = new DisposableStack();
  const stopping = new AbortController();
  const load = await startLoad(fleet, tenants.use(await signUpTenant(fleet)), { callers: 6, changers: 1 });
  const judged: Promise<string>[] = [];
  for (const [name, rule] of Object.entries(rules)) {
    const tenant = tenants.use(await signUpTenant(fleet));
    const judging = rule(fleet, tenant, stopping.signal).then((figures) => `${name}: ${figures}`);
    // Thrown below.
    judging.catch(() => undefined);
    judged.push(judging);
  }
  const troubles: Trouble[] = [];
  try {
    for await (const trouble of troubleNodes(fleet, cycles)) {
      troubles.push(trouble);
      log(`${trouble.what} for ${((trouble.toMs - trouble.fromMs) / 1_000).toFixed(0)} s`);
    }
  } finally {
    stopping.abort();
    await load.stop();
  }
  const broken: string[] = [];
  for (const result of await Promise.allSettled(judged)) {
    if (result.status === 'fulfilled') log(result.value);
    else broken.push(String(result.reason));
  }
  log(summary(load.callers.requests));
  const failures = failuresOf(troubles, load.callers.requests);
  for (const { what, failed } of failures)
    if (failed.length > 0) log(`failed while ${what}: ${summary(failed)}`);
  // A gateway that waits too long for the database of a busy machine answers 503 at any time, and the caller knows that nothing was
  // done. Without an answer a request may remain only when a node went away.
  const unexplained = failures.at(-1)?.failed.filter(({ outcome }) => outcome !== 'refused') ?? [];
  if (unexplained.length > 0) broken.push(`while no node was disturbed: ${summary(unexplained)}`);
  const { served, billed, settled, lost, acknowledged } = await judgeLoad(fleet, load);
  assert.ok(served > 0);
  log(
    `${served} served, ${billed} billed by the provider, ${settled} settled, ${lost} in flight in a killed gateway; ${acknowledged} changes acknowledged, all in the log; ${load.told.cutOff} got no answer`,
  );
  return broken;
});
