import { catalogue } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { withSession } from '../http/implement.ts';
import { callPricesInPkr, pricesInPkr } from './prices-in-pkr.ts';
import * as queries from './queries.ts';

export function listRoutes(database: Database) {
  return withSession(catalogue.listRoutes, async () => {
    const rows = await database.many(queries.listRoutes);
    return {
      body: {
        routes: rows.map((row) => ({
          id: row.id,
          aliases: row.aliases,
          provider: row.provider,
          active: row.isActive,
          endpoints: row.endpoints,
          price_pkr_per_million: pricesInPkr(row),
          price_pkr_per_call: callPricesInPkr(row.pricePerCall),
        })),
      },
    };
  });
}
