import { SharedRuns, withTimeout } from '@gatehouse/concurrency';
import { type OrganizationId, timestampWithOffset } from '@gatehouse/contract';
import {
  fragment,
  queryRows,
  startDeadline,
  type TelemetryClient,
  TelemetryUnavailableError,
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

/** By key id, in ISO 8601. Keys never used are missing. */
type LastUses = ReadonlyMap<string, string>;

/**
 * Reads the last use of each of an organisation's keys. A query costs the store some milliseconds, so however many of an
 * organisation's requests wait for it, one runs at a time. Throws TelemetryUnavailableError after 250 ms.
 */
export function createLastUseReader(
  telemetry: TelemetryClient,
): (organizationId: OrganizationId) => Promise<LastUses> {
  const runs = new SharedRuns<LastUses>();
  const read = async (organizationId: OrganizationId) => {
    const deadline = startDeadline(LAST_USED_TIMEOUT_MS);
    const rows = await queryRows(telemetry, listLastUsed(organizationId), deadline);
    return new Map(rows.map((row) => [row.key, timestampWithOffset(BigInt(row.micros))]));
  };
  return (organizationId) =>
    withTimeout(
      runs.run(organizationId, () => read(organizationId)),
      LAST_USED_TIMEOUT_MS,
      () => new TelemetryUnavailableError('the telemetry store was busy with an earlier question'),
    );
}
