import { type Database, type NoParameters, sql, statement } from '@gatehouse/store';

// Compressed time: settlements are folded after some minutes, every minute, by the function of the product with another
// horizon. No setting changes it, so the drill replaces it in its own database.

const findFold = statement<NoParameters, { definition: string }>(
  'soak-find-fold',
  sql`SELECT pg_get_functiondef('fold_settled_requests'::regproc) AS definition`,
);
const HORIZON = /date_trunc\('hour', clock_timestamp\(\)\) - interval '6 hours'/;
const MAX_BATCHES = 1_000;
const LOCK_NOT_AVAILABLE = '55P03';

export async function compressTime(database: Database, seconds: number): Promise<void> {
  const found = await database.one(findFold);
  if (found === undefined || !HORIZON.test(found.definition))
    throw new Error('fold_settled_requests has another horizon than the soak replaces');
  const client = await database.connect();
  try {
    await client.query(
      found.definition.replace(HORIZON, `clock_timestamp() - interval '${seconds} seconds'`),
    );
  } finally {
    await client.end();
  }
}

/** Runs the hourly job. Returns how many requests were folded. */
export async function foldSettlements(database: Database): Promise<number> {
  const client = await database.connect();
  try {
    let folded = 0;
    for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
      const { rows } = await client.query<{ requests: string; is_done: boolean }>(
        'SELECT requests, is_done FROM fold_settled_requests()',
      );
      folded += Number(rows[0]?.requests ?? 0);
      if (rows[0]?.is_done !== false) break;
    }
    return folded;
  } catch (error) {
    // A lock that is not free within a second is left for the next call.
    if ((error as { code?: string }).code === LOCK_NOT_AVAILABLE) return 0;
    throw error;
  } finally {
    await client.end();
  }
}
