import type { TelemetryClient } from '@gatehouse/store';
import { castOf } from './cast.ts';
import { fillStatement } from './fill-statement.ts';
import { planPassages, type TrafficWindow } from './plan.ts';
import type { TrafficWorld } from './traffic-world.ts';

export interface FillOptions {
  readonly rows: number;
  /** The rows are spread over so many days, up to the end. */
  readonly days: number;
  /** Epoch microseconds; every row is older. */
  readonly endMicros: bigint;
  /** The same world, window and seed give the same rows. */
  readonly seed: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: { readonly rows: number; readonly of: number }) => void;
}

const MOST_ROWS = 1_000_000_000;
const MOST_DAYS = 3_650;
const MEMORY_BYTES = 1_500_000_000;
const ROWS_PER_BLOCK = 262_144;
const STATEMENT_SECONDS = 600;

/**
 * Fills `request_log` with believable traffic, inside the engine: hundreds of thousands of rows a second, a million a
 * statement. What stands there already stays. Give the client patience: a statement takes seconds.
 *
 * @throws RangeError for a world or a window that makes no sense
 */
export async function fillRequestLog(
  client: TelemetryClient,
  database: string,
  world: TrafficWorld,
  options: FillOptions,
): Promise<void> {
  requireSense(world, options);
  const { rows, signal, onProgress, seed } = options;
  const window: TrafficWindow = options;
  const cast = castOf(world, seed);
  let done = 0;
  for (const passage of planPassages(cast, window)) {
    signal?.throwIfAborted();
    await client.command({
      query: fillStatement(database, cast, window, passage),
      ...(signal && { abort_signal: signal }),
      clickhouse_settings: {
        // Two fills with one seed are wanted twice.
        insert_deduplicate: 0,
        max_insert_threads: '1',
        min_insert_block_size_rows: String(ROWS_PER_BLOCK),
        min_insert_block_size_bytes: '0',
        max_execution_time: STATEMENT_SECONDS,
        max_memory_usage: String(MEMORY_BYTES),
        max_query_size: '8000000',
      },
    });
    done += passage.rows;
    onProgress?.({ rows: done, of: rows });
  }
}

function requireSense(world: TrafficWorld, { rows, days, seed }: FillOptions): void {
  const keys = world.organizations.flatMap((organization) => organization.keys);
  const weights = [...world.organizations, ...keys, ...world.models].map(({ weight }) => weight);
  const mistakes: [isWrong: boolean, sentence: string][] = [
    [
      !Number.isSafeInteger(rows) || rows < 1 || rows > MOST_ROWS,
      `rows must be an integer from 1 to ${MOST_ROWS}`,
    ],
    [!(days > 0 && days <= MOST_DAYS), `days must be above 0 and at most ${MOST_DAYS}`],
    [!Number.isSafeInteger(seed), 'the seed must be an integer'],
    [
      world.organizations.some((one) => one.keys.length === 0) || keys.length === 0,
      'every organisation needs a key',
    ],
    [world.models.length === 0, 'the world needs a model'],
    [!weights.every((weight) => weight > 0 && Number.isFinite(weight)), 'every weight must be positive'],
  ];
  for (const [isWrong, sentence] of mistakes) if (isWrong) throw new RangeError(sentence);
}
