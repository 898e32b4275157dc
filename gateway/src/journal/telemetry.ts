import { insertRequestLog, type TelemetryClient } from '@gatehouse/store';
import type { FinishedRequest } from './finished-request.ts';
import type { JournalOptions } from './journal.ts';

// A longer list of ids would come near the length that the store accepts for one query.
const IDS_PER_QUERY = 1_000;
const QUERY_SECONDS = 20;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The journal's two queries to the telemetry store; `database` holds `request_log`. */
export function telemetryFor(
  client: TelemetryClient,
  database: string,
): Required<Pick<JournalOptions, 'shipTelemetry' | 'findInTelemetry'>> {
  return {
    shipTelemetry: (rows, token) => insertRequestLog(client, rows, { token, database }),
    async findInTelemetry(rows) {
      const found = new Set<string>();
      for (let from = 0; from < rows.length; from += IDS_PER_QUERY) {
        const answer = await client.query({
          query: findQuery(database, rows.slice(from, from + IDS_PER_QUERY)),
          format: 'JSONEachRow',
          clickhouse_settings: { max_execution_time: QUERY_SECONDS },
        });
        for (const { request_id } of await answer.json<{ request_id: string }>()) found.add(request_id);
      }
      return found;
    },
  };
}

// Organisation and time are the table's order, so this reads little. The ids are part of the text because parameters
// travel in the URL, which is too short for them; every id in the journal is a UUID.
function findQuery(database: string, rows: readonly FinishedRequest[]): string {
  const times = rows.map(({ startedAtMicros }) => startedAtMicros).sort((a, b) => (a < b ? -1 : 1));
  return `SELECT request_id FROM ${database}.request_log
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
