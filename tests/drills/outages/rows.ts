import type { Kind } from './load.ts';
import type { NetworkFault } from './network.ts';
import type { Part } from './stand.ts';

// The matrix: what is taken away, and what callers may see of it. A row is a drill: `npm run drill -- outages --only NAME`.

/** The outage of a row. */
export type Outage =
  | { readonly kind: 'network'; readonly part: Part; readonly fault: NetworkFault }
  /** The disk of a store, or of the node with its journal, is full. */
  | { readonly kind: 'full-disk'; readonly of: 'postgres' | 'clickhouse' | 'node' }
  /** Redis refuses to write, as it does when its memory is full. */
  | { readonly kind: 'full-memory' }
  /** The node's clock is set, and set again, by so much. */
  | { readonly kind: 'clock'; readonly shiftsMs: readonly number[] };

export interface Row {
  readonly name: string;
  readonly outage: Outage;
  /** The requests that may fail, with the statuses that they may get; every other must succeed. 0 is a broken connection. */
  readonly mayFail: Partial<Record<Kind, readonly number[]>>;
  /** True if something must have failed or been slow, because otherwise nothing was taken away. */
  readonly isFelt: boolean;
  /** The event of the log that shows the same, where callers notice nothing. */
  readonly event?: string;
  /** Nobody waits longer for an answer: the sum of the time limits on the way, as docs/reliability.md states it. */
  readonly longestMs: number;
}

/** By how much a slow store delays each answer. */
export const SLOW_MS = 3_000;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const UNAVAILABLE = [503];
const OF_POSTGRES = {
  session: UNAVAILABLE,
  'sign-in': UNAVAILABLE,
  change: UNAVAILABLE,
  keys: UNAVAILABLE,
  analytics: UNAVAILABLE,
  models: UNAVAILABLE,
  chat: UNAVAILABLE,
  stream: UNAVAILABLE,
  readiness: UNAVAILABLE,
} as const;
const OF_CLICKHOUSE = { analytics: UNAVAILABLE } as const;
const OF_PROVIDER = { chat: [502, 503, 504], stream: [502, 503, 504, 200] } as const;
const OF_GOOGLE = { google: UNAVAILABLE } as const;
const OF_DISK = {
  chat: UNAVAILABLE,
  stream: [503, 200],
  models: UNAVAILABLE,
  readiness: UNAVAILABLE,
} as const;

/** How each part may be away, with the bound on an answer of each. */
const NETWORK: readonly {
  readonly part: Part;
  readonly mayFail: Row['mayFail'];
  readonly isFelt: boolean;
  readonly event?: string;
  readonly longestMs: Readonly<Record<'slow' | 'refused' | 'black-holed' | 'dropped', number>>;
}[] = [
  {
    part: 'postgres',
    mayFail: OF_POSTGRES,
    isFelt: true,
    longestMs: { slow: 40_000, refused: 2_000, 'black-holed': 25_000, dropped: 25_000 },
  },
  {
    part: 'clickhouse',
    mayFail: OF_CLICKHOUSE,
    isFelt: true,
    longestMs: { slow: 12_000, refused: 1_000, 'black-holed': 12_000, dropped: 12_000 },
  },
  {
    part: 'redis',
    mayFail: {},
    isFelt: false,
    event: 'rates.redis_lost',
    longestMs: { slow: 2_000, refused: 2_000, 'black-holed': 2_000, dropped: 2_000 },
  },
  {
    part: 'provider',
    mayFail: OF_PROVIDER,
    isFelt: true,
    longestMs: { slow: 8_000, refused: 2_000, 'black-holed': 8_000, dropped: 8_000 },
  },
  {
    part: 'google',
    mayFail: OF_GOOGLE,
    isFelt: true,
    longestMs: { slow: 8_000, refused: 2_000, 'black-holed': 8_000, dropped: 8_000 },
  },
  {
    part: 'collector',
    mayFail: {},
    isFelt: false,
    longestMs: { slow: 2_000, refused: 2_000, 'black-holed': 2_000, dropped: 2_000 },
  },
];

const FAULTS: readonly NetworkFault[] = [
  { kind: 'slow', delayMs: SLOW_MS },
  { kind: 'refused' },
  { kind: 'black-holed' },
  { kind: 'dropped' },
];

export const ROWS: readonly Row[] = [
  // By fault: the issuer's keys are not read twice within half a minute because of a key that nobody knows.
  ...FAULTS.flatMap((fault) =>
    NETWORK.filter(({ part }) => part !== 'google' || fault.kind !== 'dropped').map(
      ({ part, mayFail, isFelt, event, longestMs }): Row => {
        const kind = fault.kind as keyof typeof longestMs;
        return {
          name: `${part}-${kind}`,
          outage: { kind: 'network', part, fault },
          ...{ mayFail, isFelt, longestMs: longestMs[kind], ...(event !== undefined && { event }) },
        };
      },
    ),
  ),
  full('postgres', OF_POSTGRES, 25_000),
  full('clickhouse', OF_CLICKHOUSE, 12_000, 'journal.telemetry_failing'),
  full('node', OF_DISK, 2_000, 'journal.disk_low'),
  {
    name: 'redis-full',
    outage: { kind: 'full-memory' },
    event: 'rates.redis_lost',
    ...{ mayFail: {}, isFelt: false, longestMs: 2_000 },
  },
  clock('ahead', [HOUR_MS]),
  clock('behind', [-HOUR_MS]),
  clock('jumping', [HOUR_MS, -HOUR_MS, 0, -MINUTE_MS, MINUTE_MS]),
];

function full(
  of: 'postgres' | 'clickhouse' | 'node',
  mayFail: Row['mayFail'],
  longestMs: number,
  event?: string,
): Row {
  return {
    name: `${of}-disk-full`,
    outage: { kind: 'full-disk', of },
    ...{ mayFail, isFelt: event === undefined, longestMs, ...(event !== undefined && { event }) },
  };
}

function clock(how: string, shiftsMs: readonly number[]): Row {
  return {
    name: `clock-${how}`,
    outage: { kind: 'clock', shiftsMs },
    ...{ mayFail: {}, isFelt: false, longestMs: 2_000 },
  };
}
