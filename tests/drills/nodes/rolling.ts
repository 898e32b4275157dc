import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { sql, statement } from '@gatehouse/store';
import { eventually } from '../../service-process.ts';
import { type Drill, type DrillSettings, runParts } from '../drill.ts';
import { COST_MICRO_PKR } from '../gateway-fleet.ts';
import { caddy } from './caddy.ts';
import { earlierVersion } from './earlier-version.ts';
import { type FleetOptions, NODES, type NodeName, type NodesFleet } from './fleet.ts';
import { haproxy } from './haproxy.ts';
import { judgeLoad, judgeMoneyOf } from './judge.ts';
import { signUpTenant, startLoad, type Tenant } from './load.ts';
import { startStreams } from './long-streams.ts';
import { nginx } from './nginx.ts';
import { overFleet } from './over-fleet.ts';
import { createCallers, type ModelRequest, summary } from './requests.ts';

// Restarts the nodes of a fleet one after the other, politely, under load over the balancer; or replaces those of an earlier version in
// this way. No caller may notice. An earlier version without DRAIN_DELAY refuses connections while the balancer still sends: what that
// costs is counted.

const BETWEEN_MS = 1_000;
const STREAM_MS = 4_000;
/** The requests that a limited key can pay for: enough for part of the drill. */
const AFFORDABLE = 150;
/** On a machine that runs all of it, one round of the balancer's probes may take seconds. */
const DRAIN_DELAY = '10';

const findSpent = statement<{ keyId: string }, { spent: bigint }>(
  'drill-rolling-spent',
  sql`SELECT spent_micro_pkr + held_micro_pkr AS spent FROM api_keys WHERE id = ${'keyId'}`,
);

interface Step {
  readonly name: NodeName;
  readonly log: (line: string) => void;
}

/** Stops the node as an operator does, starts it again, waits until the balancer sends it requests, and reloads the balancer. */
async function replace(fleet: NodesFleet, { name, log }: Step): Promise<void> {
  const node = fleet.node(name);
  const stoppedAt = performance.now();
  assert.equal(await node.stop('SIGTERM'), 0, `${name} did not end by itself`);
  const stoppedMs = performance.now() - stoppedAt;
  await node.start();
  await eventually(async () => (await fleet.balancer.sendsTo(node.address)) || undefined);
  await fleet.balancer.reload();
  log(
    `${name}: stopped in ${(stoppedMs / 1_000).toFixed(1)} s, back after ${((performance.now() - stoppedAt) / 1_000).toFixed(1)} s`,
  );
  await delay(BETWEEN_MS);
}

/** A key that can pay for some of what it asks; the rest is refused with 402. */
async function startLimited(fleet: NodesFleet, tenant: Tenant) {
  const limit = AFFORDABLE * COST_MICRO_PKR;
  const { id, secret } = await tenant.mint({ credit_limit_cents: limit });
  const stopping = new AbortController();
  const callers = createCallers(fleet.balancer.gateway);
  const asking = callers.keepAsking(secret, 2, stopping.signal, 200);
  return {
    async stop() {
      stopping.abort();
      await asking;
      callers[Symbol.dispose]();
      const row = await fleet.database.one(findSpent, { keyId: id });
      return { limit: BigInt(limit), spent: row?.spent ?? 0n, requests: callers.requests };
    },
  };
}

/** The balancer closed the caller's idle connection as it was reloaded: nothing was sent on, and the caller sends it again. */
function isResent(fleet: NodesFleet, { status, number }: ModelRequest): boolean {
  return status === undefined && !fleet.provider.bill.has(number);
}

/** Why gateways answered 503, in the words of their logs. */
function reasonsOf(fleet: NodesFleet, requests: readonly ModelRequest[]): ReadonlyMap<string, number> {
  const remarks = new Map(fleet.logLines().map((line) => [line['request_id'], line['remark']]));
  const counts = new Map<string, number>();
  for (const { requestId, status } of requests) {
    if (status !== 503 || requestId === undefined) continue;
    const remark = String(remarks.get(requestId) ?? 'no remark');
    counts.set(remark, (counts.get(remark) ?? 0) + 1);
  }
  return counts;
}

/** `directory` is that of the version that the nodes run first; requests to it may fail where `mayFail`. */
const rolling = (mayFail: boolean, options: Pick<FleetOptions, 'balancer' | 'directory'>): Drill =>
  overFleet((fleet, settings) => roll(fleet, settings, mayFail), {
    environment: { DRAIN_DELAY },
    ...options,
  });

async function roll(
  fleet: NodesFleet,
  { cycles, log }: DrillSettings,
  mayFail: boolean,
): Promise<readonly string[]> {
  using tenant = await signUpTenant(fleet);
  const load = await startLoad(fleet, tenant);
  const streams = await startStreams(fleet, tenant, STREAM_MS);
  const limited = await startLimited(fleet, tenant);
  await delay(BETWEEN_MS);
  for (let index = 0; index < cycles; index += 1)
    await replace(fleet, { name: NODES[index % NODES.length] as NodeName, log });
  const long = await streams.stop();
  const { limit, spent, requests: ofLimited } = await limited.stop();
  await load.stop();

  const broken: string[] = [];
  const isUnexpected = (request: ModelRequest) => request.outcome !== 'served' && !isResent(fleet, request);
  const all = [...load.callers.requests, ...long];
  const reasons = reasonsOf(fleet, [...all, ...ofLimited]);
  for (const [reason, count] of reasons) log(`503 of a gateway: ${reason} (${count})`);
  const failed = all.filter(isUnexpected);
  const resent = all.filter((request) => request.outcome !== 'served').length - failed.length;
  log(`model requests: ${summary(load.callers.requests)}`);
  log(`streams of ${STREAM_MS / 1_000} s: ${summary(long)}`);
  log(
    `failed: ${failed.length}; sent again by the caller, because the balancer closed its idle connection: ${resent}`,
  );
  if (failed.length > 0 && !mayFail) broken.push(`${failed.length} requests failed: ${summary(failed)}`);
  // 402 and 429 are what a limit is for.
  const oddOfLimited = ofLimited.filter(
    (request) => isUnexpected(request) && request.status !== 402 && request.status !== 429,
  );
  log(`a key with credit for ${AFFORDABLE} requests: ${summary(ofLimited)}; spent ${spent} of ${limit}`);
  if (spent > limit) broken.push(`a key spent ${spent} of ${limit}`);
  if (oddOfLimited.length > 0 && !mayFail) broken.push(`of the limited key: ${summary(oddOfLimited)}`);

  const judged = await judgeLoad(fleet, load);
  const money = await judgeMoneyOf(fleet, long, streams.keyId);
  log(
    `${judged.served + money.served} served, ${judged.billed + money.billed} billed by the provider, ${judged.settled + money.settled} settled; ${judged.acknowledged} changes acknowledged and stored, ${load.told.cutOff} got no answer`,
  );
  return broken;
}

const RESTARTS = {
  nginx: rolling(false, { balancer: nginx }),
  caddy: rolling(false, { balancer: caddy }),
  haproxy: rolling(false, { balancer: haproxy }),
};

/** Behind each balancer in turn. */
export const drillRestart: Drill = (settings) => runParts(RESTARTS, settings);

/** `FROM` is a commit; without it, the one before the newest step of the schema. */
export const drillUpgrade: Drill = async (settings) => {
  await using earlier = await earlierVersion(process.env['FROM']);
  const { log } = settings;
  if (earlier.missing !== undefined) {
    log(`skipped: ${earlier.missing}`);
    return [];
  }
  log(`from ${earlier.description}`);
  if (!earlier.hasDrainDelay) log('it has no DRAIN_DELAY: requests may fail while its nodes stop');
  // Its folder is removed once the drill has ended.
  return await rolling(!earlier.hasDrainDelay, { directory: earlier.directory })(settings);
};
