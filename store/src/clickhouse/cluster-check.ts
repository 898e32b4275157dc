import type { ClickHouseClient } from '@clickhouse/client';
import { MigrationError } from '../migration-error.ts';

/** No such macro: NO_ELEMENTS_IN_CONFIG. */
const NO_MACRO = '139';

/**
 * Checks what a server says about a cluster before anything is created on it.
 *
 * @throws MigrationError when the server does not know it, it has several shards, or the server has no replica's name
 */
export async function requireUsableCluster(client: ClickHouseClient, cluster: string): Promise<void> {
  const answer = await client.query({
    query: `SELECT cluster AS name, max(shard_num) AS shards FROM system.clusters GROUP BY name ORDER BY name`,
    format: 'JSONEachRow',
  });
  const clusters = await answer.json<{ name: string; shards: number }>();
  const found = clusters.find(({ name }) => name === cluster);
  if (found === undefined) {
    const known = clusters.map(({ name }) => name).join(', ') || 'none';
    throw new MigrationError(
      `CLICKHOUSE_CLUSTER is "${cluster}", which the ClickHouse server does not know; it knows: ${known.slice(0, 200)}.`,
    );
  }
  if (Number(found.shards) !== 1) {
    throw new MigrationError(
      `The ClickHouse cluster "${cluster}" has ${found.shards} shards, and each node must have all rows: define a cluster with one shard and all nodes as its replicas, and set CLICKHOUSE_CLUSTER to it.`,
    );
  }
  try {
    await client.command({ query: `SELECT getMacro('replica')` });
  } catch (error) {
    if ((error as { code?: unknown }).code !== NO_MACRO) throw error;
    throw new MigrationError(
      'The ClickHouse server has no macro "replica": give each node its own name in <macros><replica>, so that tables can be replicated.',
      { cause: error },
    );
  }
}
