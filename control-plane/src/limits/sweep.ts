import type { Database } from '@gatehouse/store';
import { deleteEndedWindows } from './queries.ts';

const PER_STATEMENT = 10_000n;

/** Deletes windows that ended a day ago. Limits bind by open windows only, so nothing depends on when this runs. */
export async function sweepEndedWindows(database: Database): Promise<void> {
  let deleted: bigint;
  do deleted = (await database.one(deleteEndedWindows))?.deleted ?? 0n;
  while (deleted === PER_STATEMENT);
}
