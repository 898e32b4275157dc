import { type OrganizationId, timestampWithOffset } from '@gatehouse/contract';
import type { TelemetryClient } from '@gatehouse/store';
import { askTelemetry, type Question, startBudget } from '../lib/ask-telemetry.ts';

/** How long listing keys waits for last_used_at. */
const LAST_USE_BUDGET_MS = 250;

const lastUses = (organizationId: OrganizationId): Question<{ key: string; micros: string }> => ({
  sql: `SELECT toString(key_id) AS key, toString(toUnixTimestamp64Micro(max(last_used_at))) AS micros
        FROM key_last_used
        WHERE organization_id = {organization_id:UUID}
        GROUP BY key_id`,
  values: { organization_id: organizationId },
});

/** The last use of each of the organisation's keys in ISO 8601, by key id. Keys never used are missing. */
export async function listLastUses(
  telemetry: TelemetryClient,
  organizationId: OrganizationId,
): Promise<ReadonlyMap<string, string>> {
  const rows = await askTelemetry(telemetry, lastUses(organizationId), startBudget(LAST_USE_BUDGET_MS));
  return new Map(rows.map((row) => [row.key, timestampWithOffset(BigInt(row.micros))]));
}
