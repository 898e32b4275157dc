import {
  CONNECTIONS_PER_PROCESS,
  FIXED_COSTS,
  POSITION_DAYS,
  PROCESSES_PER_NODE,
  RATE_PER_PRIMARY,
  REQUEST_COSTS,
  SETTLEMENT_HOURS,
  TARGETS,
} from './request-costs.ts';

/** The load that is to be served. */
export interface Demand {
  /** Requests a second at the busiest time. */
  readonly rate: number;
  /** The mean rate of a day, as a share of the peak. Disks are sized by it. */
  readonly mean: number;
  /** The share of requests that stream. */
  readonly streams: number;
  /** How long the request log is kept. */
  readonly days: number;
  /** A request and its answer together, in kilobytes. */
  readonly bodyKb: number;
}

export const USUAL_DEMAND: Omit<Demand, 'rate'> = { mean: 0.5, streams: 0.5, days: 90, bodyKb: 8 };

/** The machines and processes that the load takes. Cores are those of the measured machine, busy to their target. */
export interface Size {
  /** PostgreSQL primaries, each with the organisations of its own. */
  readonly databases: number;
  /** The number that is needed; with the spare node there are more. */
  readonly gatewayProcesses: number;
  /** One more than the processes need, so that the service goes on without any of them. */
  readonly gatewayNodes: number;
  readonly gatewayCores: number;
  readonly gatewayMemoryGb: number;
  readonly apiNodes: number;
  /** Cores of all primaries together, as everything below. */
  readonly postgresCores: number;
  readonly postgresConnections: number;
  readonly walMbPerSecond: number;
  readonly settlementGb: number;
  readonly positionGb: number;
  readonly clickhouseCores: number;
  readonly clickhouseGbPerDay: number;
  readonly clickhouseGb: number;
  readonly redisCores: number;
  /** Growth of the journals of all nodes, without a backlog, and for each hour that a store is away. */
  readonly journalMbPerSecond: number;
  readonly backlogGbPerHour: number;
  readonly storeMbitPerSecond: number;
  readonly bodyMbitPerSecond: number;
}

const SECONDS_PER_DAY = 86_400;
const GB = 1e9;
const MIN_NODES = 2;

export function sizeFor({ rate, mean, streams, days, bodyKb }: Demand): Size {
  const of = (name: keyof typeof REQUEST_COSTS) => REQUEST_COSTS[name].value;
  const mainThreadUs = of('mainThreadJsonUs') * (1 - streams) + of('mainThreadStreamUs') * streams;
  const coresOf = (us: number) => (rate * us) / 1e6;
  const gatewayProcesses = Math.max(MIN_NODES, Math.ceil(coresOf(mainThreadUs) / TARGETS.mainThread));
  const withoutOne = Math.ceil(gatewayProcesses / PROCESSES_PER_NODE);
  const meanRate = rate * mean;
  const positionsPerDay =
    Math.min(rate, FIXED_COSTS.segmentsPerSecond.value * gatewayProcesses) * SECONDS_PER_DAY;
  const clickhouseGbPerDay = (meanRate * SECONDS_PER_DAY * of('requestLogBytes')) / GB;
  const storeBytes = of('postgresNetworkBytes') + of('clickhouseNetworkBytes') + of('redisNetworkBytes');
  return {
    databases: Math.ceil(rate / RATE_PER_PRIMARY),
    gatewayProcesses,
    gatewayNodes: Math.max(MIN_NODES, withoutOne + 1),
    gatewayCores: coresOf(mainThreadUs + of('otherThreadsUs')) / TARGETS.core,
    gatewayMemoryGb: (gatewayProcesses * FIXED_COSTS.gatewayMemoryMb.value) / 1_000,
    apiNodes: MIN_NODES,
    postgresCores: coresOf(of('postgresUs') + of('foldUs')) / TARGETS.database,
    postgresConnections: gatewayProcesses * CONNECTIONS_PER_PROCESS + MIN_NODES * CONNECTIONS_PER_PROCESS,
    walMbPerSecond: (rate * of('walBytes')) / 1e6,
    settlementGb: (rate * SETTLEMENT_HOURS * 3_600 * of('settlementBytes')) / GB,
    positionGb: (positionsPerDay * POSITION_DAYS * FIXED_COSTS.positionBytes.value) / GB,
    clickhouseCores: coresOf(of('clickhouseUs')) / TARGETS.database,
    clickhouseGbPerDay,
    clickhouseGb: clickhouseGbPerDay * days,
    redisCores: coresOf(of('redisUs')) / TARGETS.core,
    journalMbPerSecond: (rate * of('journalBytes')) / 1e6,
    backlogGbPerHour: (rate * 3_600 * of('journalBytes')) / GB,
    storeMbitPerSecond: (rate * storeBytes * 8) / 1e6,
    // Twice: the caller's side and the provider's.
    bodyMbitPerSecond: (2 * rate * bodyKb * 1_000 * 8) / 1e6,
  };
}
