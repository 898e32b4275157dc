import { tooManyRequests } from '@gatehouse/contract';
import type { Database, Queryable } from '@gatehouse/store';
import type { ControlPlaneSettings } from '../settings.ts';
import * as queries from './queries.ts';

// Accounts are free, and a new organisation may come with credit, so registrations are limited: by the network of the
// caller's address, and in all. Attempts are counted, before any name or address is looked up: a caller who is limited
// learns nothing of either, and one who only guesses names is limited all the same. An attempt that is refused for
// this does not count, so nobody has to wait longer for having asked. They are counted in the database, so that all
// nodes agree and a restart changes nothing. Programs on this machine are not counted.

const WINDOW_SECONDS = 3_600;

export type RegistrationLimits = Pick<
  ControlPlaneSettings,
  'registrationsPerNetwork' | 'registrationsPerHour'
>;

/** Counts an attempt to register. Throws the 429 when there were too many in the last hour. */
export async function countRegistration(
  database: Database,
  network: string | undefined,
  limits: RegistrationLimits,
): Promise<void> {
  if (network === undefined) return;
  // Once more under the lock, which a crowd that is limited already never gets to.
  await refuseTooMany(database, network, limits);
  await database.transaction(async (tx) => {
    await tx.run(queries.lockRegistrations);
    await refuseTooMany(tx, network, limits);
    await tx.run(queries.insertRegistrationAttempt, [network]);
  });
}

async function refuseTooMany(
  database: Queryable,
  network: string,
  { registrationsPerNetwork, registrationsPerHour }: RegistrationLimits,
): Promise<void> {
  const delay = await database.one(queries.findRegistrationDelay, [
    network,
    registrationsPerNetwork,
    registrationsPerHour,
    WINDOW_SECONDS,
  ]);
  if (delay?.seconds == null) return;
  throw tooManyRequests(
    'Too many accounts were registered lately. Try again later.',
    Math.max(1, delay.seconds),
  );
}

/** Removes the attempts that no longer count. */
export async function sweepRegistrations(database: Database): Promise<void> {
  await database.run(queries.deleteOldRegistrationAttempts, [WINDOW_SECONDS]);
}
