import type { TelemetryClient } from '@gatehouse/store';
import { fillStatement } from './fill-statement.ts';
import { planBatches, type TrafficWindow } from './plan-batches.ts';
import { buildPopulation } from './population.ts';
import type { TrafficProfile } from './traffic-profile.ts';

export interface FillOptions {
  readonly rows: number;
  /** The rows are spread over this many days before the end. */
  readonly days: number;
  /** Epoch microseconds; every row is older. */
  readonly endMicros: bigint;
  /** The same profile, window and seed make the same rows. */
  readonly seed: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: { readonly rows: number; readonly of: number }) => void;
}

const MAX_ROWS = 1_000_000_000;
const MAX_DAYS = 3_650;
const MEMORY_BYTES = 1_500_000_000;
const ROWS_PER_BLOCK = 262_144;
const STATEMENT_SECONDS = 600;

/**
 * Adds believable traffic to `request_log`. The engine makes the rows, hundreds of thousands a second and a million in a
 * statement. A statement takes seconds, so the client needs a long request timeout.
 *
 * @throws RangeError for an invalid profile or window
 */
export async function fillRequestLog(
  client: TelemetryClient,
  database: string,
  profile: TrafficProfile,
  options: FillOptions,
): Promise<void> {
  validate(profile, options);
  const { rows, signal, onProgress, seed } = options;
  const window: TrafficWindow = options;
  const population = buildPopulation(profile, seed);
  let done = 0;
  for (const batch of planBatches(population, window)) {
    signal?.throwIfAborted();
    await client.command({
      query: fillStatement(database, population, window, batch),
      ...(signal && { abort_signal: signal }),
      clickhouse_settings: {
        // A second fill with the same seed adds its rows too.
        insert_deduplicate: 0,
        max_insert_threads: '1',
        min_insert_block_size_rows: String(ROWS_PER_BLOCK),
        min_insert_block_size_bytes: '0',
        max_execution_time: STATEMENT_SECONDS,
        max_memory_usage: String(MEMORY_BYTES),
        max_query_size: '8000000',
      },
    });
    done += batch.rows;
    onProgress?.({ rows: done, of: rows });
  }
}

function validate(profile: TrafficProfile, { rows, days, seed }: FillOptions): void {
  const keys = profile.organizations.flatMap((organization) => organization.keys);
  const weights = [...profile.organizations, ...keys, ...profile.models].map(({ weight }) => weight);
  const checks: [isWrong: boolean, message: string][] = [
    [
      !Number.isSafeInteger(rows) || rows < 1 || rows > MAX_ROWS,
      `rows must be an integer from 1 to ${MAX_ROWS}`,
    ],
    [!(days > 0 && days <= MAX_DAYS), `days must be above 0 and at most ${MAX_DAYS}`],
    [!Number.isSafeInteger(seed), 'the seed must be an integer'],
    [
      profile.organizations.some((one) => one.keys.length === 0) || keys.length === 0,
      'every organisation needs a key',
    ],
    [profile.models.length === 0, 'the profile needs a model'],
    [!weights.every((weight) => weight > 0 && Number.isFinite(weight)), 'every weight must be positive'],
  ];
  for (const [isWrong, message] of checks) if (isWrong) throw new RangeError(message);
}
