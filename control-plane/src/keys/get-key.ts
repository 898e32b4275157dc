import { keys, notFound } from '@gatehouse/contract';
import type { TelemetryClient } from '@gatehouse/store';
import type { Logger } from 'pino';
import { withSession } from '../http/implement.ts';
import { creatorFields } from '../organization/index.ts';
import type { DatabaseFor } from '../scheduling.ts';
import { listedKeyFields } from './key-fields.ts';
import { keyIdFromText } from './ownership.ts';
import * as queries from './queries.ts';
import { createLastUseReader } from './telemetry.ts';

/** One key, with who minted it and the secret that it had before, while that is accepted. */
export function getKey(
  databaseFor: DatabaseFor,
  telemetry: TelemetryClient,
  log: Logger,
  rateLimitCeilingRpm: number,
) {
  const readLastUses = createLastUseReader(telemetry, log);
  return withSession(
    keys.getKey,
    async ({ params, requestId, gone }, { organizationId }) => {
      const keyId = keyIdFromText(params['key_id'] ?? '');
      if (keyId === undefined) throw notFound('Key');
      const database = databaseFor(organizationId, gone);
      const row = await database.one(queries.findKeyInFull, { keyId, organizationId });
      if (!row) throw notFound('Key');
      const lastUses = await readLastUses(organizationId, requestId);
      return {
        body: {
          ...listedKeyFields(row, rateLimitCeilingRpm, lastUses),
          created_by: creatorFields(row),
          previous_key_prefix: row.previousKeyPrefix,
          previous_valid_until: row.previousValidUntil,
          ...(row.previousKeyPrefix !== null && { previous_last_used_at: row.previousLastUsedAt }),
        },
      };
    },
    { holdsPermit: false },
  );
}
