import { keys } from '@gatehouse/contract';
import type { TelemetryClient } from '@gatehouse/store';
import type { Logger } from 'pino';
import { withSession } from '../http/implement.ts';
import type { DatabaseFor } from '../scheduling.ts';
import { keyFields } from './key-fields.ts';
import * as queries from './queries.ts';
import { createLastUseReader } from './telemetry.ts';

export function listKeys(databaseFor: DatabaseFor, telemetry: TelemetryClient, log: Logger) {
  const readLastUses = createLastUseReader(telemetry, log);
  return withSession(
    keys.listKeys,
    async ({ requestId, gone }, { organizationId }) => {
      // Before the rows, which are not kept while a request waits for the telemetry store.
      const lastUses = await readLastUses(organizationId, requestId);
      const rows = await databaseFor(organizationId, gone).many(queries.listKeys, { organizationId });
      return {
        body: {
          keys: rows.map((row) => ({
            ...keyFields(row),
            created_at: row.createdAt,
            last_used_at: lastUses.get(row.id) ?? null,
          })),
        },
      };
    },
    { holdsPermit: false },
  );
}
