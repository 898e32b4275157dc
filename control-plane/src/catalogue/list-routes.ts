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
          active: row.is_active,
          endpoints: row.endpoints,
          price_pkr_per_million: {
            input: pkrNumber(row.input_micro_pkr_per_million),
            output: pkrNumber(row.output_micro_pkr_per_million),
            cache_write: pkrNumber(row.cache_write_micro_pkr_per_million),
            cache_read: pkrNumber(row.cache_read_micro_pkr_per_million),
          },
        })),
      },
    };
  });
}
