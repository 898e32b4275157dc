import type { TelemetryClient } from '@gatehouse/store';
import type { Window } from './bench-query.ts';
import { rowsOf } from './stores.ts';

/** An organisation to query, and the values for the filters. */
export interface Subject {
  /** Such as `largest`. */
  readonly label: string;
  readonly organizationId: string;
  readonly requests: number;
  /** The number of them in each window. */
  readonly requestsIn: Readonly<Record<string, number>>;
  /** The 90th percentile of the cost, in micro-PKR. */
  readonly dearMicroPkr: number;
  /** By use, most first. */
  readonly keyIds: readonly string[];
  /** The most used one. */
  readonly projectId: string;
  readonly models: readonly string[];
  /** Texts in many rows and in few. A text is searched for once, because the engine caches where it is not. */
  readonly often: readonly string[];
  readonly seldom: readonly string[];
  /** The ids of requests at any time. */
  readonly requestIds: readonly string[];
}

/** The rank by size of each kind of organisation, of a hundred. */
const RANKS = [
  ['largest', 1],
  ['median', 50],
  ['small', 99],
] as const;

export async function findSubjects(
  client: TelemetryClient,
  database: string,
  windows: readonly Window[],
): Promise<Subject[]> {
  const organizations = await rowsOf<{ organization_id: string; requests: number }>(
    client,
    `SELECT organization_id, count() AS requests FROM ${database}.request_log
     GROUP BY organization_id ORDER BY requests DESC, organization_id`,
  );
  return Promise.all(
    RANKS.map(async ([label, rank]) => {
      const found = organizations[Math.min(rank, organizations.length) - 1];
      if (!found) throw new Error(`${database} has no organisation`);
      const { organization_id: organizationId, requests } = found;
      const byUse = async (what: string) => {
        const rows = await rowsOf<{ found: string }>(
          client,
          `SELECT ${what} AS found FROM ${database}.request_log
           WHERE organization_id = '${organizationId}' AND isNotNull(${what}) GROUP BY found ORDER BY count() DESC`,
        );
        return rows.map((row) => row.found);
      };
      const [figures] = await rowsOf<Record<string, number>>(
        client,
        `SELECT ${['quantileExact(0.9)(cost_micro_pkr) AS dear', ...windows.map(countIn)].join()}
         FROM ${database}.request_log WHERE organization_id = '${organizationId}'`,
      );
      const ids = await rowsOf<{ request_id: string }>(
        client,
        `SELECT request_id FROM ${database}.request_log WHERE organization_id = '${organizationId}'
         ORDER BY cityHash64(request_id) LIMIT 200`,
      );
      const values = await byUse('arrayJoin(mapValues(metadata))');
      return {
        label,
        organizationId,
        requests,
        requestsIn: figures ?? {},
        dearMicroPkr: figures?.['dear'] ?? 0,
        projectId: (await byUse('project_id'))[0] ?? '',
        keyIds: await byUse('key_id'),
        models: await byUse('model'),
        often: values.slice(0, 4),
        seldom: values.slice(-200),
        requestIds: ids.map(({ request_id }) => request_id),
      };
    }),
  );
}

const countIn = ({ text, fromMicros, toMicros }: Window) =>
  `countIf(timestamp >= fromUnixTimestamp64Micro(${fromMicros}) AND timestamp <= fromUnixTimestamp64Micro(${toMicros}))
   AS \`${text}\``;
