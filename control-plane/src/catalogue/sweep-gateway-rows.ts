import type { Database } from '@gatehouse/store';
import * as queries from './queries.ts';

/** Removes states that have not mattered for an hour: a gateway that ended leaves its rows. */
export async function sweepUpstreamStates(database: Database): Promise<void> {
  await database.run(queries.deleteOldStates);
}

/** Removes the items of translated responses that no request can refer to any more. */
export async function sweepKeptItems(database: Database): Promise<void> {
  await database.run(queries.deleteOldItems);
}
