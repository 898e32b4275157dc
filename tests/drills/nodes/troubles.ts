import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../service-process.ts';
import type { NodeName, NodesFleet } from './fleet.ts';
import type { ModelRequest } from './requests.ts';

const QUIET_MS = 3_000;
const AWAY_MS = 3_000;

/** A disturbance of a node, with its beginning and its end by `performance.now()`. */
export interface Trouble {
  readonly what: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Kills a gateway and an API and starts them again, and cuts a gateway off from the database, one after the other. Each
 *  cycle takes the other node of a pair. */
export async function* troubleNodes(fleet: NodesFleet, cycles: number): AsyncGenerator<Trouble> {
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    const [one, other] = cycle % 2 === 0 ? ([1, 2] as const) : ([2, 1] as const);
    yield await killed(fleet, `gateway-${one}`);
    yield await killed(fleet, `api-${one}`);
    if (fleet.network.withoutPartitions === undefined) yield await cutOff(fleet, `gateway-${other}`);
  }
}

async function killed(fleet: NodesFleet, name: NodeName): Promise<Trouble> {
  const fromMs = performance.now();
  await fleet.node(name).stop('SIGKILL');
  await delay(AWAY_MS);
  await fleet.node(name).start();
  return { what: `${name} killed`, fromMs, toMs: await isBack(fleet, name) };
}

async function cutOff(fleet: NodesFleet, name: NodeName): Promise<Trouble> {
  const fromMs = performance.now();
  await fleet.network.partition(name, 'postgres');
  await eventually(async () => !(await fleet.node(name).isReady()) || undefined);
  await delay(AWAY_MS);
  await fleet.network.reconnect(name, 'postgres');
  return { what: `${name} cut off from the database`, fromMs, toMs: await isBack(fleet, name) };
}

async function isBack(fleet: NodesFleet, name: NodeName): Promise<number> {
  const { address } = fleet.node(name);
  await eventually(async () => (await fleet.balancer.sendsTo(address)) || undefined);
  const toMs = performance.now();
  await delay(QUIET_MS);
  return toMs;
}

/** The requests that failed, by the last trouble that had begun when they did; those of no trouble are the last entry. */
export function failuresOf(
  troubles: readonly Trouble[],
  requests: readonly ModelRequest[],
): { readonly what: string; readonly failed: readonly ModelRequest[] }[] {
  const failed = requests.filter(({ outcome }) => outcome !== 'served' && outcome !== 'not read');
  const troubleOf = ({ sentAt, endedAt }: ModelRequest) =>
    troubles.findLast(({ fromMs, toMs }) => endedAt >= fromMs && sentAt <= toMs);
  return [
    ...troubles.map((trouble) => ({
      what: trouble.what,
      failed: failed.filter((one) => troubleOf(one) === trouble),
    })),
    { what: 'no trouble', failed: failed.filter((one) => troubleOf(one) === undefined) },
  ];
}
