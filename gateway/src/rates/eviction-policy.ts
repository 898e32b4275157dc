import { Cluster } from 'ioredis';
import type { RedisClient } from './redis-client.ts';

/** With this one, a Redis whose memory is full refuses to write, and each gateway enforces its share. With any other it forgets. */
const KEEPS_ALL = 'noeviction';

/**
 * The setting by which Redis would forget keys when its memory is full; undefined where it would not, or does not say: managed services
 * and users with few rights may refuse both questions. In a cluster, that of the first node that would. Never throws.
 */
export async function findEvictionPolicy(client: RedisClient): Promise<string | undefined> {
  const nodes = client instanceof Cluster ? client.nodes('master') : [client];
  const policies = await Promise.all(nodes.map(policyOf));
  return policies.find((policy) => policy !== undefined && policy !== KEEPS_ALL);
}

type Node = Pick<RedisClient, 'info' | 'config'>;

async function policyOf(node: Node): Promise<string | undefined> {
  const info = await node.info('memory').catch(() => '');
  const said = /^maxmemory_policy:([a-z-]{1,32})\r?$/m.exec(info)?.[1];
  if (said !== undefined) return said;
  const pair: unknown = await node.config('GET', 'maxmemory-policy').catch(() => undefined);
  const value: unknown = Array.isArray(pair) ? pair[1] : undefined;
  return typeof value === 'string' && /^[a-z-]{1,32}$/.test(value) ? value : undefined;
}
