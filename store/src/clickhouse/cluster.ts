/**
 * Schema statements for a cluster of ClickHouse servers. The migrations are written for one server. On a cluster each
 * statement runs ON CLUSTER, and each table keeps a copy of every row on every node:
 *
 *   - one shard: each node has all rows, so any node answers any query and no Distributed table is needed;
 *   - the path of a table in Keeper is a fixed text. With the macro {uuid}, a node that is added later would get a path
 *     of its own, and would stay empty without an error;
 *   - deduplication tokens are in Keeper, so a batch that is sent again to another node is stored once.
 */
import { type SqlStatement, sqlName, sqlString } from './sql-statement.ts';

const NAME = '`\\w+`(?:\\.`\\w+`|\\.\\w+)?';
const SCHEMA_STATEMENT = new RegExp(
  `^(CREATE (?:DATABASE|TABLE|MATERIALIZED VIEW) IF NOT EXISTS|ALTER TABLE|DROP (?:TABLE|VIEW) IF EXISTS)\\s+(${NAME})`,
);
const ENGINE = /\bENGINE = ((?:Aggregating)?MergeTree)\b/;
const WINDOW = /\bnon_replicated_deduplication_window = (\d+)/;
/** A batch may come again days later, after an outage. The number of tokens bounds what Keeper has to hold. */
const TOKEN_SECONDS = 30 * 86_400;

/**
 * The statement as a cluster needs it.
 *
 * @throws Error for a statement that is not in one of the forms that migrations use, so that none runs on one node only
 */
export function onCluster({ sql, verb }: Pick<SqlStatement, 'sql' | 'verb'>, cluster: string): string {
  // Rows are copied by the table.
  if (verb === 'INSERT') return sql;
  const [head, action, name] = SCHEMA_STATEMENT.exec(sql) ?? [];
  if (head === undefined || name === undefined)
    throw new Error(`this statement has no form for a cluster: ${sql.slice(0, 80)}`);
  const rest = sql.slice(head.length);
  if (action?.startsWith('CREATE TABLE') && !ENGINE.test(rest))
    throw new Error(`this table has no engine for a cluster: ${name}`);
  return `${action} ${name} ON CLUSTER ${sqlName(cluster)}${replicated(rest, keeperPath(cluster, name))}`;
}

/** The path where the replicas of a table meet. `{replica}` is a macro in the configuration of each server. */
function keeperPath(cluster: string, name: string): string {
  return `/clickhouse/tables/${cluster}/${name.replaceAll('`', '').replace('.', '/')}`;
}

function replicated(rest: string, path: string): string {
  return rest
    .replace(ENGINE, (_, engine) => `ENGINE = Replicated${engine}(${sqlString(path)}, '{replica}')`)
    .replace(
      WINDOW,
      (_, batches) =>
        `replicated_deduplication_window = ${batches}, replicated_deduplication_window_seconds = ${TOKEN_SECONDS}`,
    );
}

const CREATED = /^CREATE (TABLE|MATERIALIZED VIEW) (\S+)(?=[\s(])/;

/** The statement that creates an existing table or view wherever the cluster lacks it. `query` is the server's own text. */
export function createOnCluster(query: string, cluster: string): string {
  const [head, kind, name] = CREATED.exec(query) ?? [];
  if (head === undefined) throw new Error(`not a table or a view: ${query.slice(0, 80)}`);
  return `CREATE ${kind} IF NOT EXISTS ${name} ON CLUSTER ${sqlName(cluster)}${query.slice(head.length)}`;
}

/**
 * Settings of schema statements on a cluster. A statement waits for each node that is up: the next one may be sent to
 * another node. A node that is down does its part when it is back, and the statement does not fail because of it.
 */
export const CLUSTER_SCHEMA_SETTINGS = {
  distributed_ddl_output_mode: 'null_status_on_timeout',
  distributed_ddl_task_timeout: '20',
  alter_sync: '2',
  replication_wait_for_inactive_replica_timeout: '0',
} as const;

/** The code for "done on every node that is up": UNFINISHED. */
const UNFINISHED = '341';

export function isUnfinished(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code) === UNFINISHED;
}
