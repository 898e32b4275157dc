import { createSemaphore } from '@gatehouse/concurrency';
import { type OrganizationId, timestampWithOffset } from '@gatehouse/contract';
import {
  fragment,
  queryRows,
  startDeadline,
  type TelemetryClient,
  telemetryQuery,
  uuid,
} from '@gatehouse/store';
import type { Logger } from 'pino';

/** How long listing keys waits for last_used_at. */
const LAST_USED_TIMEOUT_MS = 250;
/** Queries of all organisations together, so that other queries and inserts get connections to the store, too. */
const QUERIES_AT_ONCE = 4;

const listLastUsed = (organizationId: OrganizationId) =>
  telemetryQuery<{ key: string; micros: string }>(
    fragment`SELECT toString(key_id) AS key, toString(toUnixTimestamp64Micro(max(last_used_at))) AS micros
             FROM key_last_used
             WHERE organization_id = ${uuid('organization_id', organizationId)}
             GROUP BY key_id`,
  );

/** By key id, in ISO 8601. Keys never used are missing. */
export type LastUses = ReadonlyMap<string, string>;

/**
 * Reads the last use of each of an organisation's keys; empty, with one warning, when the store does not answer within
 * 250 ms. A query costs the store some milliseconds, so an organisation has one at a time, and all its requests that come
 * meanwhile get that one's result (single-flight).
 */
export function createLastUseReader(
  telemetry: TelemetryClient,
  log: Logger,
): (organizationId: OrganizationId, requestId: string) => Promise<LastUses> {
  const running = new Map<OrganizationId, Promise<LastUses>>();
  const queries = createSemaphore({ permits: QUERIES_AT_ONCE });
  const read = async (organizationId: OrganizationId, requestId: string): Promise<LastUses> => {
    const deadline = startDeadline(LAST_USED_TIMEOUT_MS);
    try {
      const rows = await queries.run(
        () => queryRows(telemetry, listLastUsed(organizationId), deadline),
        deadline.signal,
      );
      return new Map(rows.map((row) => [row.key, timestampWithOffset(BigInt(row.micros))]));
    } catch (error) {
      // The list is useful without last_used_at. All rows or none: a null among times would mean "never used".
      log.warn(
        { event: 'keys.last_used_unavailable', request_id: requestId, err: error },
        'listed keys without last_used_at: the telemetry store did not answer',
      );
      return new Map();
    } finally {
      running.delete(organizationId);
    }
  };
  return (organizationId, requestId) => {
    const found = running.get(organizationId);
    if (found !== undefined) return found;
    const started = read(organizationId, requestId);
    running.set(organizationId, started);
    return started;
  };
}
