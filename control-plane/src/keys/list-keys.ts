import { keys } from '@gatehouse/contract';
import type { Database, TelemetryClient } from '@gatehouse/store';
import type { Logger } from 'pino';
import { withSession } from '../http/implement.ts';
import * as queries from './queries.ts';
import { keyFields } from './rules.ts';
import { listLastUses } from './telemetry.ts';

export function listKeys(database: Database, telemetry: TelemetryClient, log: Logger) {
  return withSession(keys.listKeys, async ({ requestId }, { organizationId }) => {
    const [rows, lastUses] = await Promise.all([
      database.many(queries.listKeys, [organizationId]),
      listLastUses(telemetry, organizationId).catch((error: unknown) => {
        // The list is worth having without it. All rows or none: a null among times would read as "never used".
        log.warn({ request_id: requestId, err: error }, 'keys are listed without their last use');
        return new Map<string, string>();
      }),
    ]);
    return {
      body: {
        keys: rows.map((row) => ({
          ...keyFields(row),
          created_at: row.created_at,
          last_used_at: lastUses.get(row.id) ?? null,
        })),
      },
    };
  });
}
