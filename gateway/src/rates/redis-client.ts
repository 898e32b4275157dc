import type { Secret } from '@gatehouse/contract';
import { Cluster, Redis } from 'ioredis';
import { COUNT, PRESENT, REMEMBER } from './rate-scripts.ts';

/** Where Redis or Valkey is. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
  readonly username?: string;
  readonly password?: Secret;
  readonly database: number;
  /** Over TLS, verified; by certificates of its own where `ca` has them. */
  readonly tls?: { readonly ca?: string };
}

interface Scripts {
  gatehouseCount(key: string, ...pairs: (string | number)[]): Promise<number[]>;
  gatehouseRemember(key: string, ...pairs: (string | number)[]): Promise<number>;
  gatehousePresent(key: string, gatewayId: string): Promise<number[]>;
}

export type RedisClient = (Redis | Cluster) & Scripts;

const scripts = {
  gatehouseCount: { lua: COUNT, numberOfKeys: 1 },
  gatehouseRemember: { lua: REMEMBER, numberOfKeys: 1 },
  gatehousePresent: { lua: PRESENT, numberOfKeys: 1 },
};

/** A client that connects once. A script is sent whole the first time, and after that by its hash. */
export function createRedisClient(
  { host, port, username, password, database, tls }: RedisAddress,
  isCluster: boolean,
  connectTimeoutMs: number,
): RedisClient {
  const ofEachNode = {
    ...(username !== undefined && { username }),
    ...(password && { password: password.reveal() }),
    ...(tls && { tls }),
    protocol: 2 as const,
    connectTimeout: connectTimeoutMs,
    maxRetriesPerRequest: 0,
    enableReadyCheck: false,
    disableClientInfo: true,
  };
  // Whether to connect again is not for the client to decide: a request must not wait for it.
  const once = { enableOfflineQueue: false, lazyConnect: true, scripts };
  const client = isCluster
    ? new Cluster([{ host, port }], {
        ...once,
        clusterRetryStrategy: () => null,
        maxRedirections: 3,
        retryDelayOnFailover: 50,
        slotsRefreshTimeout: connectTimeoutMs,
        redisOptions: ofEachNode,
      })
    : new Redis({ ...once, ...ofEachNode, host, port, db: database, retryStrategy: () => null });
  return client as RedisClient;
}

/** Ends its connections now, without waiting for a server that may not answer. */
export function destroyClient(client: RedisClient): void {
  client.disconnect();
  const nodes = client instanceof Cluster ? client.nodes('all') : [client];
  for (const { stream } of nodes as readonly { readonly stream?: { destroy(): void } }[]) stream?.destroy();
}

/** What happened, without the command, which the client attaches and which may be the one with the password. */
export function redisError(
  error: Error & { readonly code?: string; readonly lastNodeError?: Error },
): Error & { readonly code?: string } {
  const { message, name } = error.lastNodeError ?? error;
  return Object.assign(new Error(message || name), error.code !== undefined && { code: error.code });
}
