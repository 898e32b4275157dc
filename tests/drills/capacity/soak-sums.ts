import { setTimeout as delay } from 'node:timers/promises';
import { type Database, type NoParameters, sql, statement, type TelemetryClient } from '@gatehouse/store';
import type { SoakSums } from './soak-run.ts';

// Once nothing is held: what was settled, what was spent, and what the request log has.

const LIMIT_MS = 60_000;
const findSums = statement<
  NoParameters,
  { settled: number; settledMicroPkr: bigint; spentMicroPkr: bigint; heldMicroPkr: bigint }
>(
  'soak-find-sums',
  sql`WITH s AS (
        SELECT count(*) AS n, coalesce(sum(cost_micro_pkr), 0) AS c FROM settlements
      ), t AS (SELECT coalesce(sum(requests), 0) AS n, coalesce(sum(spent_micro_pkr), 0) AS c FROM settlement_totals)
      SELECT (s.n + t.n)::float8 AS settled, (s.c + t.c)::bigint AS settled_micro_pkr,
             (SELECT coalesce(sum(spent_micro_pkr), 0)::bigint FROM balances) AS spent_micro_pkr,
             (SELECT coalesce(sum(held_micro_pkr), 0)::bigint FROM balances) AS held_micro_pkr
      FROM s, t`,
);

export async function checkSums(
  { database }: { readonly database: Database },
  telemetry: TelemetryClient,
): Promise<SoakSums> {
  const logged = async () => {
    const answer = await telemetry.query({
      query: 'SELECT count() AS n FROM telemetry.request_log WHERE cost_micro_pkr > 0',
      format: 'JSONEachRow',
    });
    return Number((await answer.json<{ n: string }>())[0]?.n);
  };
  const end = performance.now() + LIMIT_MS;
  for (;;) {
    const sums = await database.one(findSums);
    const inLog = await logged();
    if ((sums?.heldMicroPkr === 0n && sums.settled === inLog) || performance.now() > end)
      return {
        settled: sums?.settled ?? 0,
        logged: inLog,
        spentMicroPkr: String(sums?.spentMicroPkr),
        settledMicroPkr: String(sums?.settledMicroPkr),
        heldMicroPkr: String(sums?.heldMicroPkr),
      };
    await delay(500);
  }
}
