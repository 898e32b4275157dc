import {
  insertRequestLog,
  QUERY_LIMITS,
  queryCurrentReplica,
  REPLICA,
  type TelemetryClient,
} from '@gatehouse/store';
import type { FinishedRequest } from './finished-request.ts';
import type { JournalOptions } from './journal.ts';

// A longer list of ids would come near the length that the store accepts for one query.
const IDS_PER_QUERY = 1_000;
const QUERY_SECONDS = 20;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The journal's two queries to the telemetry store; `database` holds `request_log`. With a `quorum` the store is a cluster:
 * rows that a node has not copied yet must not look missing, or they would be stored a second time.
 */
export function telemetryFor(
  client: TelemetryClient,
  database: string,
  quorum?: string,
): Required<Pick<JournalOptions, 'shipTelemetry' | 'findInTelemetry'>> {
  const find = quorum === undefined ? findOnServer : findOnCluster;
  return {
    shipTelemetry: (rows, token) => insertRequestLog(client, rows, { token, database, quorum }),
    async findInTelemetry(rows) {
      const found = new Set<string>();
      for (let from = 0; from < rows.length; from += IDS_PER_QUERY) {
        const some = rows.slice(from, from + IDS_PER_QUERY);
        for (const id of await find(client, database, some)) found.add(id);
      }
      return found;
    },
  };
}

async function findOnServer(
  client: TelemetryClient,
  database: string,
  rows: readonly FinishedRequest[],
): Promise<string[]> {
  const answer = await client.query({
    query: findQuery('request_id', database, rows),
    format: 'JSONEachRow',
    clickhouse_settings: { ...QUERY_LIMITS, max_execution_time: QUERY_SECONDS },
  });
  return (await answer.json<{ request_id: string }>()).map(({ request_id }) => request_id);
}

async function findOnCluster(
  client: TelemetryClient,
  database: string,
  rows: readonly FinishedRequest[],
): Promise<string[]> {
  const found = await queryCurrentReplica<{ replica: string; ids: string[] }>(client, {
    database,
    table: 'request_log',
    query: findQuery(`${REPLICA} AS replica, groupArray(request_id) AS ids`, database, rows),
    timeoutSeconds: QUERY_SECONDS,
  });
  return found?.ids ?? [];
}

// Organisation and time are the table's order, so this reads little. The ids are part of the text because parameters
// travel in the URL, which is too short for them; every id in the journal is a UUID.
function findQuery(selected: string, database: string, rows: readonly FinishedRequest[]): string {
  const times = rows.map(({ startedAtMicros }) => startedAtMicros).sort((a, b) => (a < b ? -1 : 1));
  return `SELECT ${selected} FROM ${database}.request_log
    WHERE organization_id IN (${uuids(rows.map(({ organizationId }) => organizationId))})
      AND timestamp >= fromUnixTimestamp64Micro(${times[0]}) AND timestamp <= fromUnixTimestamp64Micro(${times.at(-1)})
      AND request_id IN (${uuids(rows.map(({ requestId }) => requestId))})`;
}

function uuids(ids: readonly string[]): string {
  return [...new Set(ids)]
    .map((id) => {
      if (!UUID.test(id)) throw new RangeError(`${JSON.stringify(id)} is not a UUID`);
      return `'${id}'`;
    })
    .join();
}
