import { tooManyRequests } from '@gatehouse/contract';
import type { Database, Queryable } from '@gatehouse/store';
import type { ControlPlaneSettings } from '../settings.ts';
import * as queries from './queries.ts';

// Accounts are free, and a new organisation may come with credit, so registrations are limited, per network of the caller's
// address and in total. An attempt is counted before any name or address is looked up: a limited caller learns nothing
// about either, and guessing names is limited too. An attempt over the limit is not counted, so that asking again does not
// extend the wait. The database holds the count, so all nodes agree and a restart changes nothing. Programs on this machine
// are not counted.

const WINDOW_SECONDS = 3_600;

export type RegistrationLimits = Pick<
  ControlPlaneSettings,
  'registrationsPerNetwork' | 'registrationsPerHour'
>;

/**
 * Counts an attempt to register.
 * @throws ApiError 429 when there were too many in the last hour
 */
export async function countRegistration(
  database: Database,
  network: string | undefined,
  limits: RegistrationLimits,
): Promise<void> {
  if (network === undefined) return;
  // Checked again under the lock. Callers over the limit never reach the lock.
  await refuseTooMany(database, network, limits);
  await database.transaction(async (tx) => {
    await tx.run(queries.lockRegistrations);
    await refuseTooMany(tx, network, limits);
    await tx.run(queries.insertRegistrationAttempt, { network });
  });
}

async function refuseTooMany(
  database: Queryable,
  network: string,
  { registrationsPerNetwork, registrationsPerHour }: RegistrationLimits,
): Promise<void> {
  const delay = await database.one(queries.findRegistrationDelay, {
    network,
    perNetwork: registrationsPerNetwork,
    inAll: registrationsPerHour,
    windowSeconds: WINDOW_SECONDS,
  });
  if (delay?.seconds == null) return;
  throw tooManyRequests(
    'Too many accounts were registered lately. Try again later.',
    Math.max(1, delay.seconds),
  );
}

/** Removes the attempts that no longer count. */
export async function sweepRegistrations(database: Database): Promise<void> {
  await database.run(queries.deleteOldRegistrationAttempts, { windowSeconds: WINDOW_SECONDS });
}
