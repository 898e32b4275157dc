import type { Database } from '@gatehouse/store';
import { deleteOldDeliveries } from './queries.ts';

/** Deletes deliveries that ended and are a week old. */
export async function sweepDeliveries(database: Database): Promise<void> {
  await database.run(deleteOldDeliveries);
}
