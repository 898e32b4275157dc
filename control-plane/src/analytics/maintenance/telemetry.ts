import {
  type EngineSettings,
  fragment,
  rawSql,
  type TelemetryQuery,
  type TelemetrySql,
  telemetryQuery,
  text,
} from '@gatehouse/store';

/** A statement that changes the store, with the engine's settings for it. */
export interface TelemetryCommand extends TelemetrySql {
  readonly settings: EngineSettings;
}

// Nothing waits for maintenance, and queries run meanwhile.
const ONE_THREAD = { max_threads: 1 } as const;

// The projection hourly_by_key answers the side of the request log. A key missing from key_last_used has the epoch
// there. No alias may be the name of a column: the engine would use the alias in the conditions too.
const STALE_KEYS = rawSql(`SELECT used.organization, used.used_key, used.used_at
  FROM (SELECT organization_id AS organization, assumeNotNull(key_id) AS used_key, max(timestamp) AS used_at
        FROM request_log
        WHERE key_id IS NOT NULL
        GROUP BY organization, used_key) AS used
  LEFT ANY JOIN (SELECT organization_id AS organization, key_id AS used_key, max(last_used_at) AS known_at
                 FROM key_last_used
                 GROUP BY organization, used_key) AS known USING (organization, used_key)
  WHERE used.used_at > known.known_at`);

/** The number of keys whose last use in the request log is later than in key_last_used. */
export const countStaleKeys: TelemetryQuery<{ stale: string }> = telemetryQuery(
  fragment`SELECT toString(count()) AS stale FROM (${STALE_KEYS})`,
  ONE_THREAD,
);

/** Adds what is missing. Surplus rows change nothing, because the latest time of a key counts. */
export const repairLastUsed: TelemetryCommand = {
  ...fragment`INSERT INTO key_last_used (organization_id, key_id, last_used_at) ${STALE_KEYS}`,
  // A second repair may insert the same rows and must not be dropped as a repeat of the first.
  settings: { ...ONE_THREAD, insert_deduplicate: 0 },
};

export interface MonthRow {
  /** Year and month in one number, such as 202611: the name of a partition. */
  readonly month: string;
  readonly requests: string;
}

/** The months that the request log has rows of, the oldest first. */
export const listMonths: TelemetryQuery<MonthRow> = telemetryQuery(
  rawSql(`SELECT partition_id AS month, toString(sum(rows)) AS requests
          FROM system.parts
          WHERE database = currentDatabase() AND table = 'request_log' AND active
          GROUP BY partition_id
          ORDER BY partition_id`),
);

/** Removes a month with its projections, at once and whole. A month that is already gone is no error. */
export function dropMonth(month: string): TelemetryCommand {
  return {
    ...fragment`ALTER TABLE request_log DROP PARTITION ID ${text('month', month)}`,
    // By default a server refuses to drop more than 50 GB, as a guard against accidents.
    settings: { max_partition_size_to_drop: 0 },
  };
}
