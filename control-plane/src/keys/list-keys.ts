import { keys, type OrganizationId } from '@gatehouse/contract';
import type { TelemetryClient } from '@gatehouse/store';
import type { Logger } from 'pino';
import { withSession } from '../http/implement.ts';
import type { DatabaseFor } from '../scheduling.ts';
import { listedKeyFields } from './key-fields.ts';
import { KeyPages } from './key-pages.ts';
import * as queries from './queries.ts';
import { createLastUseReader } from './telemetry.ts';

// So many rows are read and written in one turn of the event loop. A list that is longer is read page by page in one
// transaction, so that it is of one moment, and then sent without the database.
const PAGE_ROWS = 250;
const NEWEST: queries.KeyCursor = { afterCreatedAt: null, afterId: null };

export function listKeys(
  databaseFor: DatabaseFor,
  telemetry: TelemetryClient,
  log: Logger,
  rateLimitCeilingRpm: number,
) {
  const readLastUses = createLastUseReader(telemetry, log);
  return withSession(
    keys.listKeys,
    async ({ requestId, gone }, { organizationId }) => {
      // Before the rows, which are not kept while a request waits for the telemetry store.
      const lastUses = await readLastUses(organizationId, requestId);
      const shown = (row: queries.KeyRow) => listedKeyFields(row, rateLimitCeilingRpm, lastUses);
      const database = databaseFor(organizationId, gone);
      const rows = await database.many(queries.listKeys, { organizationId, ...NEWEST, limit: PAGE_ROWS + 1 });
      if (rows.length <= PAGE_ROWS) return { body: { keys: rows.map(shown) } };
      const pages = await database.transaction(async (tx) => {
        await tx.run(queries.readOneSnapshot);
        const pages = new KeyPages();
        for (let cursor: queries.KeyCursor | undefined = NEWEST; cursor && !gone.aborted; ) {
          const rows: queries.KeyRow[] = await tx.many(queries.listKeys, pageAfter(cursor, organizationId));
          pages.add(rows.map(shown));
          const last = rows.length === PAGE_ROWS ? rows.at(-1) : undefined;
          cursor = last && { afterCreatedAt: last.createdAt, afterId: last.id };
        }
        return pages;
      });
      return {
        contentType: 'application/json; charset=utf-8',
        pieces: pages.pieces(),
        keptBytes: pages.keptBytes,
      };
    },
    { holdsPermit: false },
  );
}

function pageAfter(cursor: queries.KeyCursor, organizationId: OrganizationId) {
  return { organizationId, ...cursor, limit: PAGE_ROWS };
}
