import type { Question } from '../../lib/ask-telemetry.ts';

/** Something that changes the store: SQL, the values it binds, and settings of the engine for it. */
export interface Change {
  readonly sql: string;
  readonly values: Readonly<Record<string, string>>;
  readonly settings: Readonly<Record<string, string | number>>;
}

// One core is enough: nobody waits for this, and others ask meanwhile.
const GENTLY = { max_threads: 1 } as const;

// The log's side is answered from the projection hourly_by_key. A key that key_last_used lacks has the epoch there.
// No alias is the name of a column, for the engine would then read it in the conditions too.
const KEYS_BEHIND = `SELECT used.organization, used.used_key, used.used_at
  FROM (SELECT organization_id AS organization, assumeNotNull(key_id) AS used_key, max(timestamp) AS used_at
        FROM request_log
        WHERE key_id IS NOT NULL
        GROUP BY organization, used_key) AS used
  LEFT ANY JOIN (SELECT organization_id AS organization, key_id AS used_key, max(last_used_at) AS known_at
                 FROM key_last_used
                 GROUP BY organization, used_key) AS known USING (organization, used_key)
  WHERE used.used_at > known.known_at`;

/** How many keys were used later, by the request log, than key_last_used has it. */
export const countKeysBehind: Question<{ behind: string }> = {
  sql: `SELECT toString(count()) AS behind FROM (${KEYS_BEHIND})`,
  values: {},
  settings: GENTLY,
};

/** Adds what is missing. Rows too many change nothing, since the latest time of a key counts. */
export const bringKeysUp: Change = {
  sql: `INSERT INTO key_last_used (organization_id, key_id, last_used_at) ${KEYS_BEHIND}`,
  values: {},
  // The same repair may be needed twice, and must not be taken for a repeat of the first.
  settings: { ...GENTLY, insert_deduplicate: 0 },
};

export interface MonthRow {
  /** Year and month in one number, such as 202611: the name of a partition. */
  readonly month: string;
  readonly requests: string;
}

/** The months that the request log has rows of, the oldest first. */
export const listMonths: Question<MonthRow> = {
  sql: `SELECT partition_id AS month, toString(sum(rows)) AS requests
        FROM system.parts
        WHERE database = currentDatabase() AND table = 'request_log' AND active
        GROUP BY partition_id
        ORDER BY partition_id`,
  values: {},
};

/** Removes a month with its projections, at once and whole. One that is gone already is no error. */
export function dropMonth(month: string): Change {
  return {
    sql: 'ALTER TABLE request_log DROP PARTITION ID {month:String}',
    values: { month },
    // A server refuses by default to drop more than 50 GB in one go, against slips of the hand.
    settings: { max_partition_size_to_drop: 0 },
  };
}
