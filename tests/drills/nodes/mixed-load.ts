import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../service-process.ts';
import type { Drill } from '../drill.ts';
import { NODES, type NodeName } from './fleet.ts';
import { judgeLoad } from './judge.ts';
import { signUpTenant, startLoad } from './load.ts';
import { overFleet } from './over-fleet.ts';
import { summary } from './requests.ts';

const BETWEEN_MS = 2_000;

// Stops each node of a fleet in turn, by a kill or politely, starts it again, and cuts a gateway off from the database, under a load of
// changes and model requests over the balancer.

export const drill: Drill = overFleet(async (fleet, { cycles, log }) => {
  using tenant = await signUpTenant(fleet);
  const load = await startLoad(fleet, tenant);
  await delay(BETWEEN_MS);
  for (let index = 0; index < cycles; index += 1) {
    const name = NODES[index % NODES.length] as NodeName;
    const signal = index % 2 === 0 ? 'SIGKILL' : 'SIGTERM';
    const ended = await fleet.node(name).stop(signal);
    assert.equal(ended, signal === 'SIGKILL' ? 'SIGKILL' : 0);
    await delay(BETWEEN_MS);
    await fleet.node(name).start();
    await delay(BETWEEN_MS);
    log(`${name} ${signal}: ${summary(load.callers.requests)}`);
  }
  if (fleet.network.withoutPartitions === undefined) {
    await fleet.network.partition('gateway-1', 'postgres');
    await eventually(async () => !(await fleet.node('gateway-1').isReady()) || undefined);
    await delay(BETWEEN_MS);
    await fleet.network.reconnect('gateway-1', 'postgres');
    await eventually(async () => (await fleet.node('gateway-1').isReady()) || undefined);
    await delay(BETWEEN_MS);
  }
  await load.stop();
  log(summary(load.callers.requests));
  const judged = await judgeLoad(fleet, load);
  log(
    `${judged.served} served, ${judged.billed} billed by the provider, ${judged.settled} settled, ${judged.lost} lost in a killed gateway; ${judged.acknowledged} changes acknowledged and stored, ${load.told.cutOff} got no answer`,
  );
  return [];
});
