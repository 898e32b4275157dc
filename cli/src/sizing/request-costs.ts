// What a request costs, and what is kept of it: the one place of the figures that sizes are calculated from. Times are of the
// machine that docs/benchmarks.md describes, where a virtual core is slow; measure your own with `node bench/gateway/main.ts`.

/** A figure with where it was measured. */
export interface Cost {
  readonly value: number;
  readonly unit: string;
  readonly meaning: string;
  /** A page in docs, or a command. */
  readonly source: string;
}

const cost = (value: number, unit: string, meaning: string, source: string): Cost => ({
  value,
  unit,
  meaning,
  source,
});

const GATEWAY = 'benchmarks.md#gateway';
const COSTS = 'benchmarks.md#what-a-request-costs-the-stores';

export const REQUEST_COSTS = {
  mainThreadJsonUs: cost(223, 'µs', 'gateway, main thread: an answer in one piece', GATEWAY),
  mainThreadStreamUs: cost(408, 'µs', 'gateway, main thread: a stream of 50 events', GATEWAY),
  otherThreadsUs: cost(29, 'µs', 'gateway, its other threads', GATEWAY),
  postgresUs: cost(87, 'µs', 'PostgreSQL: admission, settlement, commits', GATEWAY),
  foldUs: cost(
    11,
    'µs',
    'PostgreSQL: folding the settlement, hours later',
    'decisions/0043-settlements-become-positions.md',
  ),
  clickhouseUs: cost(32, 'µs', 'ClickHouse: insert with rollups, and merges', GATEWAY),
  redisUs: cost(17.5, 'µs', 'Redis, with REDIS_URL: one script', COSTS),
  walBytes: cost(805, 'bytes', 'PostgreSQL: write-ahead log', COSTS),
  postgresNetworkBytes: cost(531, 'bytes', 'network, gateway and PostgreSQL', COSTS),
  clickhouseNetworkBytes: cost(384, 'bytes', 'network, gateway and ClickHouse', COSTS),
  redisNetworkBytes: cost(205, 'bytes', 'network, gateway and Redis', COSTS),
  journalBytes: cost(904, 'bytes', 'journal: written, read back once, deleted', 'benchmarks.md#journal'),
  settlementBytes: cost(
    133,
    'bytes',
    'PostgreSQL: the settlement, for 6 to 7 hours',
    'decisions/0043-settlements-become-positions.md',
  ),
  requestLogBytes: cost(
    110,
    'bytes',
    'ClickHouse: the row of the request log with its rollups',
    'telemetry-store.md',
  ),
} as const satisfies Readonly<Record<string, Cost>>;

/** Costs that do not depend on the number of requests. */
export const FIXED_COSTS = {
  segmentsPerSecond: cost(1, 'a second', 'segments of each gateway process', 'scaling.md'),
  positionBytes: cost(197, 'bytes', 'PostgreSQL: the position of a segment, for 100 days', 'scaling.md'),
  gatewayMemoryMb: cost(400, 'MB', 'memory of a gateway process, without large bodies', 'scaling.md'),
} as const satisfies Readonly<Record<string, Cost>>;

/** How far a part may be loaded, as a share of what it can do: the rest is for peaks and for a part that fails. */
export const TARGETS = {
  mainThread: 0.6,
  core: 0.6,
  database: 0.5,
} as const;

export const SETTLEMENT_HOURS = 7;
export const POSITION_DAYS = 100;
/** Gateway processes of one node, which has two cores more than processes. */
export const PROCESSES_PER_NODE = 8;
/** Requests a second that one PostgreSQL primary is planned for. Beyond it organisations are split over databases. */
export const RATE_PER_PRIMARY = 20_000;
/** Connections of each gateway process: GATEWAY_DATABASE_POOL_SIZE. */
export const CONNECTIONS_PER_PROCESS = 8;
