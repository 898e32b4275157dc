import type { Database } from '@gatehouse/store';
import type { Logger } from 'pino';
import { sweepExpired } from './auth/index.ts';
import { sweepIdempotencyKeys } from './keys/index.ts';

const EVERY_MS = 60_000;

/** Removes, every minute, what has expired. Several nodes may do it at once. */
export function startHousekeeping(
  database: Database,
  log: Logger,
  signInWindowSeconds: number,
): AsyncDisposable {
  let running: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    running = sweep(database, signInWindowSeconds).catch((error: unknown) => {
      log.warn({ err: error }, 'what has expired could not be removed; trying again in a minute');
    });
  }, EVERY_MS);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await running;
    },
  };
}

async function sweep(database: Database, signInWindowSeconds: number): Promise<void> {
  await sweepExpired(database, signInWindowSeconds);
  await sweepIdempotencyKeys(database);
}
