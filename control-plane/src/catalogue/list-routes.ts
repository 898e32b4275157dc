import { catalogue, pkrNumber } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { withSession } from '../http/implement.ts';
import * as queries from './queries.ts';

export function listRoutes(database: Database) {
  return withSession(catalogue.listRoutes, async () => {
    const rows = await database.many(queries.listRoutes);
    return {
      body: {
        routes: rows.map((row) => ({
          id: row.id,
          provider: row.provider,
          active: row.isActive,
          endpoints: row.endpoints,
          price_pkr_per_million: {
            input: pkrNumber(row.inputMicroPkrPerMillion),
            output: pkrNumber(row.outputMicroPkrPerMillion),
            cache_write: pkrNumber(row.cacheWriteMicroPkrPerMillion),
            cache_read: pkrNumber(row.cacheReadMicroPkrPerMillion),
          },
        })),
      },
    };
  });
}
