import { type Database, type NoParameters, sql, statement, type TelemetryClient } from '@gatehouse/store';

// The records of the callers' requests in the stores.

/** A row of the request log. */
export interface LoggedRow {
  /** The number that the caller gave the request; 0 for others. */
  readonly request: number;
  readonly id: string;
  readonly status: number;
  readonly costMicroPkr: bigint;
  /** How it ended, for a person. */
  readonly ending: string;
}

export interface Settled {
  readonly id: string;
  readonly keyId: string;
  readonly costMicroPkr: bigint;
}

export interface KeySum {
  readonly keyId: string;
  readonly spent: bigint;
  readonly held: bigint;
  readonly unsettled: bigint;
}

export interface Books {
  readonly rows: readonly LoggedRow[];
  readonly settlements: readonly Settled[];
  readonly keys: readonly KeySum[];
  readonly holds: number;
}

const listSettlements = statement<NoParameters, Settled>(
  'drill-list-all-settlements',
  sql`SELECT request_id::text AS id, key_id, cost_micro_pkr FROM settlements`,
);
const listSums = statement<NoParameters, KeySum>(
  'drill-list-sums',
  sql`SELECT id AS key_id, spent_micro_pkr AS spent, held_micro_pkr AS held, unsettled_micro_pkr AS unsettled FROM api_keys`,
);
const countHolds = statement<NoParameters, { count: bigint }>(
  'drill-count-all-holds',
  sql`SELECT count(*) AS count FROM holds`,
);

/** `where` chooses the rows of the request log. */
export async function readBooks(
  database: Database,
  telemetry: TelemetryClient,
  where = 'true',
): Promise<Books> {
  return {
    rows: await readRows(telemetry, where),
    settlements: await database.many(listSettlements),
    keys: await database.many(listSums),
    holds: await holdsIn(database),
  };
}

export async function holdsIn(database: Database): Promise<number> {
  return Number((await database.one(countHolds))?.count ?? 0n);
}

export async function countRows(telemetry: TelemetryClient): Promise<number> {
  const answer = await telemetry.query({
    query: 'SELECT count() AS count FROM request_log',
    format: 'JSONEachRow',
  });
  const [row] = await answer.json<{ count: string }>();
  return Number(row?.count ?? 0);
}

async function readRows(telemetry: TelemetryClient, where: string): Promise<LoggedRow[]> {
  const answer = await telemetry.query({
    query: `SELECT metadata['request'] AS request, request_id AS id, status, cost_micro_pkr AS cost,
      concat(toString(termination_reason), ' ', refusal, ' ', ifNull(upstream_error, ''), ' after ', toString(round(total_ms)), ' ms') AS ending
      FROM request_log WHERE ${where}`,
    format: 'JSONEachRow',
  });
  const rows = await answer.json<{
    request: string;
    id: string;
    status: number;
    cost: string;
    ending: string;
  }>();
  return rows.map(({ request, id, status, cost, ending }) => ({
    request: Number(request),
    id,
    status,
    costMicroPkr: BigInt(cost),
    ending,
  }));
}
