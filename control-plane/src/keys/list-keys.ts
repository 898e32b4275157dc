import { keys } from '@gatehouse/contract';
import type { Database, TelemetryClient } from '@gatehouse/store';
import type { Logger } from 'pino';
import { withSession } from '../http/implement.ts';
import { keyFields } from './key-fields.ts';
import * as queries from './queries.ts';
import { createLastUseReader } from './telemetry.ts';

export function listKeys(database: Database, telemetry: TelemetryClient, log: Logger) {
  const readLastUses = createLastUseReader(telemetry);
  return withSession(keys.listKeys, async ({ requestId }, { organizationId }) => {
    const [rows, lastUses] = await Promise.all([
      database.many(queries.listKeys, { organizationId }),
      readLastUses(organizationId).catch((error: unknown) => {
        // The list is useful without last_used_at. All rows or none: a null among times would mean "never used".
        log.warn(
          { event: 'keys.last_used_unavailable', request_id: requestId, err: error },
          'listed keys without last_used_at: the telemetry store did not answer',
        );
        return new Map<string, string>();
      }),
    ]);
    return {
      body: {
        keys: rows.map((row) => ({
          ...keyFields(row),
          created_at: row.createdAt,
          last_used_at: lastUses.get(row.id) ?? null,
        })),
      },
    };
  });
}
