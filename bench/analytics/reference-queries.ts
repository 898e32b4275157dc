import { pageFacts } from './baseline-pages.ts';
import {
  type Grouping,
  type Metric,
  type Series,
  type SummaryRow,
  seriesFacts,
  summaryFacts,
  throttlingFacts,
} from './baseline-sums.ts';
import type { Facts, Target } from './bench-query.ts';

// The same queries for PostgreSQL, as an expert would write them: every sum from an index alone.

/** Sends a statement, prepared by its name, and returns the rows. */
export type SendReference = <Row>(name: string, text: string, values: readonly unknown[]) => Promise<Row[]>;

export interface ReferencePlan {
  run(send: SendReference): Promise<Facts>;
}

const timestamp = (micros: bigint) =>
  `${new Date(Number(micros / 1_000n)).toISOString().slice(0, -1)}${(micros % 1_000n).toString().padStart(3, '0')}Z`;

const scope = ({ subject, window }: Target) => [
  subject.organizationId,
  timestamp(window.fromMicros),
  timestamp(window.toMicros),
];
const SCOPE = 'r.organization_id = $1 AND r.timestamp >= $2 AND r.timestamp <= $3';

const SUMS = {
  requests: 'count(*)::float8',
  total_us_sum: 'sum(r.total_us)::float8',
  ttft_us_sum: 'sum(r.ttft_us)::float8',
  ttft_count: 'count(r.ttft_us)::float8',
  timed_tokens: '(sum(r.tokens_generated) FILTER (WHERE r.generation_us IS NOT NULL))::float8',
  timed_us: 'sum(r.generation_us)::float8',
  tokens: 'sum(r.total_tokens)::float8',
  cost: 'sum(r.cost_micro_pkr)::float8',
} as const;

export function summary(at: Target, keyId?: string): ReferencePlan {
  const select = Object.entries(SUMS).map(([name, sql]) => `${sql} AS ${name}`);
  const key = keyId === undefined ? '' : ' AND r.key_id = $4';
  const text = `SELECT ${select.join(', ')} FROM requests r WHERE ${SCOPE}${key}`;
  const values = [...scope(at), ...(keyId === undefined ? [] : [keyId])];
  return {
    run: async (send) => summaryFacts((await send<SummaryRow>(`summary${values.length}`, text, values))[0]),
  };
}

const VALUES: Readonly<Record<Metric, string>> = {
  volume: SUMS.requests,
  latency: 'sum(r.total_us)::float8 / count(*) / 1000',
  tok_s: `${SUMS.timed_tokens} / nullif(sum(r.generation_us), 0)::float8 * 1000000`,
};
const COLUMNS: Readonly<Record<Grouping, string>> = {
  model: 'r.model_id',
  project: 'r.project_id',
  key: 'r.key_id',
};

export function series(at: Target, { metric, grouping, seconds }: Series): ReferencePlan {
  const points = `SELECT date_bin($4::interval, r.timestamp, 'epoch') AS bucket, ${COLUMNS[grouping]} AS one,
                         ${VALUES[metric]} AS value
                  FROM requests r WHERE ${SCOPE} GROUP BY 1, 2`;
  const named =
    grouping === 'model'
      ? `SELECT extract(epoch FROM bucket)::int AS bucket, m.name, value
         FROM (${points}) p JOIN models m ON m.id = one ORDER BY p.bucket, m.name`
      : `SELECT extract(epoch FROM bucket)::int AS bucket, one AS name, value
         FROM (${points}) p WHERE value IS NOT NULL ORDER BY p.bucket, one`;
  return {
    run: async (send) =>
      seriesFacts(
        await send<{ readonly value: number }>(`series-${metric}-${grouping}`, named, [
          ...scope(at),
          `${seconds} seconds`,
        ]),
      ),
  };
}

export interface ReferenceFilter {
  readonly statusClass?: number;
  readonly minCostMicroPkr?: number;
  readonly keyId?: string;
  readonly model?: string;
  readonly search?: string;
}

export function page(at: Target, filter: ReferenceFilter, offset = 0): ReferencePlan {
  const values: unknown[] = scope(at);
  const bind = (value: unknown) => `$${values.push(value)}`;
  const conditions = [
    SCOPE,
    ...(filter.statusClass === undefined
      ? []
      : [
          `r.status >= ${bind(filter.statusClass * 100)} AND r.status < ${bind(filter.statusClass * 100 + 100)}`,
        ]),
    ...(filter.minCostMicroPkr === undefined ? [] : [`r.cost_micro_pkr >= ${bind(filter.minCostMicroPkr)}`]),
    ...(filter.keyId === undefined ? [] : [`r.key_id = ${bind(filter.keyId)}`]),
    ...(filter.model === undefined
      ? []
      : [`r.model_id = (SELECT id FROM models WHERE name = ${bind(filter.model)})`]),
    ...(filter.search === undefined ? [] : [`r.search_text LIKE ${bind(containing(filter.search))}`]),
  ].join(' AND ');
  const kind = Object.keys(filter).join('-');
  const rows = `SELECT r.*, m.name AS model, u.name AS user_agent
                FROM (SELECT * FROM requests r WHERE ${conditions}
                      ORDER BY r.timestamp DESC, r.request_id DESC
                      LIMIT 50 OFFSET $${values.length + 1}) r
                JOIN models m ON m.id = r.model_id JOIN user_agents u ON u.id = r.user_agent_id
                ORDER BY r.timestamp DESC, r.request_id DESC`;
  return {
    async run(send) {
      const [counted] = await send<{ readonly total: number }>(
        `count-${kind}`,
        `SELECT count(*)::float8 AS total FROM requests r WHERE ${conditions}`,
        values,
      );
      const found = await send<{ readonly request_id: string }>(`page-${kind}`, rows, [...values, offset]);
      return pageFacts(counted?.total ?? 0, found);
    },
  };
}

const containing = (text: string) => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;

/** One request by its id, within the millisecond that the id has. */
export function one({ subject }: Target, requestId: string): ReferencePlan {
  const ms = BigInt(`0x${requestId.replaceAll('-', '').slice(0, 12)}`) * 1_000n;
  const text = `SELECT r.* FROM requests r WHERE r.organization_id = $1 AND r.timestamp >= $2 AND r.timestamp < $3 AND r.request_id = $4`;
  const values = [subject.organizationId, timestamp(ms), timestamp(ms + 1_000n), requestId];
  return {
    run: async (send) => [(await send<{ request_id: string }>('one', text, values))[0]?.request_id ?? null],
  };
}

export function throttling(at: Target): ReferencePlan {
  const text = `
    SELECT key_id, sum(n)::float8 AS requests, sum(refused)::float8 AS throttled, max(n)::float8 AS peak,
           max(last)::text AS last
    FROM (SELECT r.key_id, date_bin('1 minute', r.timestamp, 'epoch') AS minute, count(*) AS n,
                 count(*) FILTER (WHERE r.is_throttled) AS refused,
                 max(r.timestamp) FILTER (WHERE r.is_throttled) AS last
          FROM requests r WHERE ${SCOPE} AND r.key_id IS NOT NULL GROUP BY 1, 2) minutes
    GROUP BY key_id ORDER BY throttled DESC`;
  return {
    run: async (send) => throttlingFacts(await send('throttling', text, scope(at))),
  };
}

export function lastUsed({ subject }: Target): ReferencePlan {
  const text = `
    SELECT k.id, (SELECT max(r.timestamp) FROM requests r WHERE r.organization_id = $1 AND r.key_id = k.id)::text AS last
    FROM unnest($2::uuid[]) AS k (id)`;
  return {
    run: async (send) => [(await send('last-used', text, [subject.organizationId, subject.keyIds])).length],
  };
}
