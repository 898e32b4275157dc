import { timestampWithOffset } from '@gatehouse/contract';
import type { TelemetryClient } from '@gatehouse/store';
import { askTelemetry, type Question, startBudget } from '../lib/ask-telemetry.ts';

/** How long the list of keys waits for the times of last use. */
const LAST_USE_BUDGET_MS = 250;

const lastUses = (organizationId: string): Question<{ key: string; micros: string }> => ({
  sql: `SELECT toString(key_id) AS key, toString(toUnixTimestamp64Micro(max(last_used_at))) AS micros
        FROM key_last_used
        WHERE organization_id = {organization_id:UUID}
        GROUP BY key_id`,
  values: { organization_id: organizationId },
});

/** When each key of the organisation was last used: ISO 8601 by key id. A key that never was is not in it. */
export async function listLastUses(
  telemetry: TelemetryClient,
  organizationId: string,
): Promise<ReadonlyMap<string, string>> {
  const rows = await askTelemetry(telemetry, lastUses(organizationId), startBudget(LAST_USE_BUDGET_MS));
  return new Map(rows.map((row) => [row.key, timestampWithOffset(BigInt(row.micros))]));
}
