import type { Database } from '@gatehouse/store';
import { deleteEndedWindows } from './queries.ts';

/** Deletes windows that ended a day ago. Limits bind by open windows only, so nothing depends on when this runs. */
export async function sweepEndedWindows(database: Database): Promise<void> {
  await database.run(deleteEndedWindows);
}
