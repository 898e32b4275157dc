import { type OrganizationId, timestampWithOffset } from '@gatehouse/contract';
import {
  fragment,
  queryRows,
  startDeadline,
  type TelemetryClient,
  telemetryQuery,
  uuid,
} from '@gatehouse/store';

/** How long listing keys waits for last_used_at. */
const LAST_USED_TIMEOUT_MS = 250;

const listLastUsed = (organizationId: OrganizationId) =>
  telemetryQuery<{ key: string; micros: string }>(
    fragment`SELECT toString(key_id) AS key, toString(toUnixTimestamp64Micro(max(last_used_at))) AS micros
             FROM key_last_used
             WHERE organization_id = ${uuid('organization_id', organizationId)}
             GROUP BY key_id`,
  );

/** The last use of each of the organisation's keys in ISO 8601, by key id. Keys never used are missing. */
export async function listLastUses(
  telemetry: TelemetryClient,
  organizationId: OrganizationId,
): Promise<ReadonlyMap<string, string>> {
  const deadline = startDeadline(LAST_USED_TIMEOUT_MS);
  const rows = await queryRows(telemetry, listLastUsed(organizationId), deadline);
  return new Map(rows.map((row) => [row.key, timestampWithOffset(BigInt(row.micros))]));
}
