import type { ClickHouseClient } from '@clickhouse/client';
import { rowsOf } from './rows-of.ts';

/** The engine uses a projection only for exactly its expressions. */
const SUMS = `count() AS requests, sum(total_us) AS total, sum(ttft_us) AS ttft, count(ttft_us) AS streams,
  sumIf(tokens_generated, isNotNull(generation_us)) AS timed, sum(generation_us) AS generation,
  sum(total_tokens) AS tokens, sum(cost_micro_pkr) AS cost`;
const BY_KEY = `SELECT organization_id, toStartOfHour(timestamp) AS hour, project_id, key_id, ${SUMS}, max(timestamp) AS last
  FROM request_log GROUP BY organization_id, hour, project_id, key_id ORDER BY ALL`;
const BY_MODEL = `SELECT organization_id, toStartOfHour(timestamp) AS hour, model, ${SUMS}
  FROM request_log GROUP BY organization_id, hour, model ORDER BY ALL`;

const SETTINGS = {
  rows: 'optimize_use_projections = 0',
  projections: 'force_optimize_projection = 1',
} as const;

/** The hourly rollup by key and by model, computed from the rows or read from the projections. */
export async function hourlySums(client: ClickHouseClient, from: keyof typeof SETTINGS): Promise<object[][]> {
  const ask = (query: string) => rowsOf<object>(client, `${query} SETTINGS ${SETTINGS[from]}`);
  return [await ask(BY_KEY), await ask(BY_MODEL)];
}

/** How many rows are in parts that lack a projection. */
export async function rowsWithout(client: ClickHouseClient): Promise<number> {
  const [found] = await rowsOf<{ n: string }>(
    client,
    `SELECT sum(rows) AS n FROM system.parts
     WHERE database = currentDatabase() AND table = 'request_log' AND active
       AND NOT hasAll(projections, ['hourly_by_key', 'hourly_by_model'])`,
  );
  return Number(found?.n);
}
