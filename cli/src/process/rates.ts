import { readFile } from 'node:fs/promises';
import { systemClock } from '@gatehouse/concurrency';
import type { RateLimiter } from '@gatehouse/gateway';
import type { Logger } from 'pino';
import { type Config, ConfigError } from '../config/config.ts';
import type { SharedPort } from './gateway-child.ts';

// The process of the API opens no rates, but loads this file. So the gateway's code is imported only where it is used.

/** The counter of rates of a gateway process. */
export interface OpenRates extends RateLimiter {
  close(): void;
}

/** In Redis if there is one; else at the rate keeper of the port; undefined if the process counts alone. */
export async function openRates(
  config: Pick<Config, 'redis' | 'redisCaFile' | 'gatewayNodes' | 'gatewayProcesses'>,
  shared: SharedPort | undefined,
  log: Logger,
): Promise<OpenRates | undefined> {
  const { redis, redisCaFile, gatewayNodes, gatewayProcesses } = config;
  if (redis) {
    const ca = redis.tls && redisCaFile !== undefined ? await readCertificates(redisCaFile) : undefined;
    const { openRedisRates } = await import('@gatehouse/gateway/redis-rates');
    return openRedisRates({
      address: { ...redis, ...(ca !== undefined && { tls: { ca } }) },
      processes: gatewayNodes * gatewayProcesses,
      clock: systemClock,
      log,
    });
  }
  if (!shared?.rateKeeper) return undefined;
  const { openKeptRates } = await import('@gatehouse/gateway');
  return openKeptRates({ ...shared.rateKeeper, processes: shared.count, clock: systemClock, log });
}

async function readCertificates(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError(`REDIS_CA_FILE is ${JSON.stringify(path)}, which cannot be read (${code})`);
  }
}
