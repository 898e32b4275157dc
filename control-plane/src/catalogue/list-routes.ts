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
        // Of a route with several targets, the provider and the prices of the first one.
        routes: rows.flatMap(({ targets: [target], ...row }) =>
          target
            ? [
                {
                  id: row.id,
                  aliases: row.aliases,
                  provider: target.provider,
                  byok_providers: row.byokProviders,
                  active: row.isActive,
                  endpoints: row.endpoints,
                  price_pkr_per_million: pricesInPkr(target),
                  price_pkr_per_call: callPricesInPkr(target.pricePerCall),
                },
              ]
            : [],
        ),
      },
    };
  });
}
