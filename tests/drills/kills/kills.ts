import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { runCommand } from '../../command-process.ts';
import { eventually } from '../../service-process.ts';
import { type Balance, changeThings, checkChanges, nothingTold, type Told } from '../changes-load.ts';
import type { Drill } from '../drill.ts';
import { seeded } from '../seeded.ts';
import { account } from './account.ts';
import { holdsIn, readBooks } from './books.ts';
import { startCallers } from './callers.ts';
import type { Node } from './node.ts';
import { createOwner } from './owner.ts';
import { openStand, type Stand } from './stand.ts';

// Kills one process after the other at random moments, while the others are under load: two APIs and two gateways that share a
// directory, PostgreSQL and the engine. A caller goes to another API or gateway when one is down, as a balancer would send it.
// Each is started again at once, and the next kill may come while it still starts. What happened in between is compared at the end:
// callers, provider, request log and ledger; changes and activity log; and the operator's own checks.

type Kind = 'gateway' | 'api' | 'engine' | 'postgres';

/** How many of 520 kills. */
const SHARES: Readonly<Record<Kind, number>> = { gateway: 200, api: 200, engine: 100, postgres: 20 };
const MAX_BETWEEN_MS = 1_000;
const CALLERS = 6;
const CHANGERS = 4;
const PAUSE_MS = 60;
const RECOVERED_WITHIN_MS = 5 * 60_000;
const READY_WITHIN_MS = 120_000;

export const drill: Drill = async ({ cycles, seed, log }) => {
  const random = seeded(seed);
  await using stand = await openStand(seeded(seed + 1), 40);
  const apis = [await stand.startNode('api', 'machine'), await stand.startNode('api', 'machine')];
  const gateways = [await stand.startNode('gateway', 'machine'), await stand.startNode('gateway', 'machine')];
  const owner = await createOwner((apis[0] as Node).port, 4);
  const told = nothingTold();
  const stopping = new AbortController();
  const load = { random: seeded(seed + 2), signal: stopping.signal };
  const callers = startCallers({
    ports: gateways.map(({ port }) => port),
    secrets: owner.keys.map(({ secret }) => secret),
    callers: CALLERS,
    random: seeded(seed + 3),
    pauseMs: PAUSE_MS,
    isUp: (gateway) => gateways[gateway]?.isUp === true,
  });
  const changing = Promise.all(Array.from({ length: CHANGERS }, () => keepChanging(apis, told, load)));
  const ports = apis.map(({ port }) => port);
  const limits = owner.changeLimits({ ports, ...load, pauseMs: PAUSE_MS });
  // Errors of the load are thrown when it is awaited.
  for (const one of [changing, limits]) one.catch(() => undefined);

  const startedAt = performance.now();
  const kills = { gateway: 0, api: 0, engine: 0, postgres: 0 };
  const restarts: Promise<void>[] = [];
  try {
    for (const kind of schedule(cycles, random)) {
      await delay(random() * MAX_BETWEEN_MS);
      const nodes = kind === 'gateway' ? gateways : kind === 'api' ? apis : undefined;
      if (nodes) await killOne(nodes, random, restarts, log);
      else await killStore(stand, kind as 'engine' | 'postgres');
      kills[kind] += 1;
      const done = Object.values(kills).reduce((sum, count) => sum + count, 0);
      const seconds = (performance.now() - startedAt) / 1_000;
      if (done % 20 === 0)
        log(
          `${done} kills in ${seconds.toFixed(0)} s; ${callers.sent.length} requests, ${told.acknowledged.size} changes`,
        );
    }
    await Promise.all(restarts);
  } finally {
    stopping.abort();
  }
  const killedMs = performance.now() - startedAt;
  await callers.stop();
  await changing;
  const limitChanges = await limits;

  log('waiting until everything is settled, shipped and released');
  const recoveredAt = performance.now();
  await eventually(
    async () => (await holdsIn(stand.database).catch(() => 1)) === 0 || undefined,
    RECOVERED_WITHIN_MS,
  );
  const recoveredMs = performance.now() - recoveredAt;
  const accountNow = async () =>
    account({
      sent: callers.sent,
      bill: stand.provider.bill,
      books: await readBooks(stand.database, stand.telemetry),
      killedAtMs: gateways.map(({ killedAtMs }) => killedAtMs),
    });
  // The telemetry shipper may still be behind.
  await eventually(async () => (await accountNow()).broken.length === 0 || undefined, 30_000).catch(
    () => undefined,
  );
  const accounted = await accountNow();
  const broken = [...accounted.broken];
  const noted = (error: Error) => {
    broken.push(error.message);
    return undefined;
  };
  const balance: Balance | undefined = await checkChanges(stand.database, told).catch(noted);
  broken.push(...(await operatorChecks(stand)));

  const starts = (nodes: readonly Node[]) => {
    const all = nodes.flatMap(({ startMs }) => startMs).toSorted((a, b) => a - b);
    return ((all[Math.floor(all.length / 2)] ?? 0) / 1_000).toFixed(1);
  };
  const acknowledged = [...told.acknowledged.values()].reduce((sum, count) => sum + count, 0);
  log(
    `${kills.gateway} kills of a gateway, ${kills.api} of an API, ${kills.engine} of the engine, ${kills.postgres} of PostgreSQL in ${(killedMs / 1_000).toFixed(0)} s; half of the gateways were ready again within ${starts(gateways)} s, of the APIs within ${starts(apis)} s`,
  );
  log(
    `${callers.sent.length} requests: ${accounted.served} served, ${accounted.left} left by their callers, ${accounted.unavailable} answered 503, ${accounted.interrupted} interrupted by a kill`,
  );
  log(
    `${accounted.settled} settled once each with ${accounted.settledMicroPkr} micro-PKR, as the provider billed; ${accounted.uncharged} answers of the provider (${accounted.unchargedMicroPkr} micro-PKR) were lost with their gateway, and nobody is charged for them`,
  );
  log(
    `${balance?.changes} changes and ${balance?.entries} entries of the activity log; ${acknowledged} changes acknowledged, ${limitChanges} more of the callers' limits; ${told.cutOff} interrupted; the last hold ended ${(recoveredMs / 1_000).toFixed(0)} s after the last kill`,
  );
  await Promise.all([...apis, ...gateways].map((node) => node[Symbol.asyncDispose]()));
  for (const node of [...apis, ...gateways]) {
    for (const [event, count] of node.errors) {
      log(`${node.role} logged as an error, ${count} times: ${event}`);
      if (event.includes('internal_error')) broken.push(`${node.role} had an internal error: ${event}`);
    }
  }
  return broken;
};

/** The kinds of the kills in the order of the seed, at least one of each. */
function schedule(cycles: number, random: () => number): Kind[] {
  const all = Object.values(SHARES).reduce((sum, count) => sum + count, 0);
  const kinds = (Object.keys(SHARES) as Kind[]).flatMap((kind) =>
    Array.from({ length: Math.max(1, Math.round((SHARES[kind] * cycles) / all)) }, () => kind),
  );
  return kinds
    .map((kind) => ({ kind, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ kind }) => kind);
}

/** Kills one that is up, once there is one, and starts it again without waiting for that. */
async function killOne(
  nodes: readonly Node[],
  random: () => number,
  restarts: Promise<void>[],
  log: (line: string) => void,
): Promise<void> {
  const first = Math.floor(random() * nodes.length);
  const node = await eventually(
    async () => [nodes[first], ...nodes].find((one) => one?.isUp),
    READY_WITHIN_MS,
  );
  await node.kill();
  const restarted = node.restart();
  // Thrown at the end, which comes earlier where all nodes of a role are down.
  restarted.catch((error) => log(`${node.role} did not start again: ${error}`));
  restarts.push(restarted);
}

async function killStore({ postgres, engine }: Stand, kind: 'engine' | 'postgres'): Promise<void> {
  const pidOf = () => (kind === 'engine' ? (engine.enginePid() ?? undefined) : postgres.serverPid());
  const pid = await eventually(async () => pidOf(), READY_WITHIN_MS);
  const pids = kind === 'postgres' ? [pid, ...(await childrenOf(pid))] : [pid];
  for (const one of pids) {
    try {
      process.kill(one, 'SIGKILL');
    } catch (error) {
      // A backend may have ended by itself since it was listed.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
  await eventually(async () => (pidOf() !== pid || undefined) && pidOf(), READY_WITHIN_MS);
}

async function childrenOf(parent: number): Promise<number[]> {
  const children: number[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    // The name of the program, in parentheses, may itself contain spaces.
    if (Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent) children.push(Number(pid));
  }
  return children;
}

/** One client after the other, each with an account of its own, since one whose request broke cannot know what happened. */
async function keepChanging(
  apis: readonly Node[],
  told: Told,
  { random, signal }: { readonly random: () => number; readonly signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    const api = apis[Math.floor(random() * apis.length)] as Node;
    if (api.isUp) {
      const client = new ApiClient(api.port);
      const own = { client, provider: 'mock', told, signal, random, pauseMs: PAUSE_MS };
      await changeThings({ ...own, onChange: () => undefined });
    }
    await delay(PAUSE_MS);
  }
}

async function operatorChecks({ environment, directory }: Stand): Promise<string[]> {
  const broken: string[] = [];
  for (const words of [['doctor'], ['activity', 'verify']]) {
    const { code, stdout, stderr } = await runCommand(words, {
      environment: { ...environment, DATA_DIR: directory },
    });
    if (code !== 0) broken.push(`gatehouse ${words.join(' ')} exits with ${code}: ${stdout}${stderr}`);
  }
  return broken;
}
