import type { Secret } from '@gatehouse/contract';
import { Cluster, Redis } from 'ioredis';
import { COUNT, PRESENT, REMEMBER } from './rate-scripts.ts';

export interface RedisNode {
  readonly host: string;
  readonly port: number;
}

/** The address of Redis or Valkey. */
export interface RedisAddress extends RedisNode {
  /** Further nodes of the same cluster, or servers that may take over from the first. */
  readonly others?: readonly RedisNode[];
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

/**
 * A client that connects once: to a cluster through whichever of the nodes answers, else to the first of them. A script is sent whole
 * the first time, and after that by its hash.
 */
export function createRedisClient(
  { username, password, database, tls }: RedisAddress,
  nodes: readonly RedisNode[],
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
    ? new Cluster([...nodes], {
        ...once,
        clusterRetryStrategy: () => null,
        maxRedirections: 3,
        retryDelayOnFailover: 50,
        slotsRefreshTimeout: connectTimeoutMs,
        redisOptions: ofEachNode,
      })
    : new Redis({ ...once, ...ofEachNode, ...nodes[0], db: database, retryStrategy: () => null });
  return client as RedisClient;
}

/** The nodes of the cluster as it describes itself now, with replicas; none of a single server. */
export function clusterNodes(client: RedisClient): RedisNode[] {
  if (!(client instanceof Cluster)) return [];
  return client.nodes('all').flatMap(({ options: { host, port } }) => (host && port ? [{ host, port }] : []));
}

/** Ends its connections now, without waiting for a server that may not answer. */
export function destroyClient(client: RedisClient): void {
  client.disconnect();
  const nodes = client instanceof Cluster ? client.nodes('all') : [client];
  for (const { stream } of nodes as readonly { readonly stream?: { destroy(): void } }[]) stream?.destroy();
}

/** The error, without the command, which the client attaches and which may be the one with the password. */
export function redisError(
  error: Error & { readonly code?: string; readonly lastNodeError?: Error },
): Error & { readonly code?: string } {
  const { message, name } = error.lastNodeError ?? error;
  return Object.assign(new Error(message || name), error.code !== undefined && { code: error.code });
}
