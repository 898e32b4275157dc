import type { ClickHouseClient } from '@clickhouse/client';
import { QUERY_LIMITS } from './run-query.ts';

/** Each request may reach another node, and the two of a try must reach the same one. */
const TRIES = 5;

/** The node that answered cannot be shown to have every acknowledged row. Another try, later, may. */
export class ReplicaBehindError extends Error {
  override readonly name = 'ReplicaBehindError';
}

export type CurrentQuery = {
  readonly database: string;
  readonly table: string;
  /** Gives one row at most, in which `replica` is REPLICA. */
  readonly query: string;
  readonly timeoutSeconds: number;
};

/** Names the node that computes it. Nodes in containers may share a host name; the id is in the data directory. */
export const REPLICA = `concat(hostName(), ' ', toString(serverUUID()))`;

/**
 * Runs a query on a node that has everything that any node of the cluster had acknowledged when it began. An ordinary
 * query may be answered by a node that is behind. The server's own way, select_sequential_consistency, needs inserts to
 * come one at a time, and gateways insert in parallel.
 *
 * @throws ReplicaBehindError
 */
export async function queryCurrentReplica<Row extends { replica: string }>(
  client: ClickHouseClient,
  { database, table, query, timeoutSeconds }: CurrentQuery,
): Promise<Row | undefined> {
  const clickhouse_settings = { ...QUERY_LIMITS, max_execution_time: timeoutSeconds };
  let reason = '';
  for (let turn = 0; turn < TRIES; turn++) {
    const status = await client.query({
      query: STATUS,
      query_params: { database, table },
      format: 'JSONEachRow',
      clickhouse_settings,
    });
    const [node] = await status.json<{ replica: string; isCurrent: number }>();
    if (node === undefined) throw new ReplicaBehindError(`${table} is not replicated on this node`);
    if (node.isCurrent !== 1) {
      reason = `${node.replica} is behind`;
      continue;
    }
    const answer = await client.query({ query, format: 'JSONEachRow', clickhouse_settings });
    const [row] = await answer.json<Row>();
    if (row?.replica === node.replica) return row;
    reason = 'two requests in a row were answered by two nodes';
  }
  throw new ReplicaBehindError(`no node could be shown to have all rows: ${reason}`);
}

// The log of a table in Keeper is what all nodes have acknowledged; a node that has copied it and waits for no part has
// all rows. A node without Keeper knows of nothing new.
const STATUS = `SELECT ${REPLICA} AS replica,
    NOT is_readonly AND NOT is_session_expired AND log_pointer > log_max_index AND inserts_in_queue = 0 AS isCurrent
  FROM system.replicas WHERE database = {database:String} AND table = {table:String}`;
