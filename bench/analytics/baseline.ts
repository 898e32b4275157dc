import type { TelemetryClient } from '@gatehouse/store';
import type { Facts, Target } from './bench-query.ts';
import { quantile } from './quantiles.ts';

// The baseline: what the engine itself needs. Statements written by hand for one query each, with everything known in
// advance, sent by the plain client from this process and read into objects.

export interface SendOptions {
  readonly settings?: Readonly<Record<string, string | number>>;
}

export type Send = <Row>(sql: string, options?: SendOptions) => Promise<Row[]>;

/** One form of a query by hand. */
export interface BaselinePlan {
  readonly name: string;
  run(send: Send): Promise<Facts>;
}

export function sendTo(client: TelemetryClient): Send {
  return async <Row>(query: string, { settings = {} }: SendOptions = {}) => {
    const answer = await client.query({
      query,
      format: 'JSONEachRow',
      clickhouse_settings: {
        output_format_json_quote_64bit_integers: 0,
        max_execution_time: 60,
        ...settings,
      },
    });
    return answer.json<Row>();
  };
}

/** Tries each form a few times and returns the index of the fastest. */
export async function fastest(
  plansAt: (round: number) => readonly BaselinePlan[],
  send: Send,
  tries: number,
): Promise<number> {
  const times = plansAt(0).map((): number[] => []);
  for (let round = 0; round < tries; round += 1) {
    for (const [index, plan] of plansAt(round).entries()) {
      const startedAt = performance.now();
      await plan.run(send);
      times[index]?.push(performance.now() - startedAt);
    }
  }
  const medians = times.map((values) => quantile(values, 0.5));
  return medians.indexOf(Math.min(...medians));
}

const HOUR_MICROS = 3_600_000_000n;

const moment = (micros: bigint) => `fromUnixTimestamp64Micro(${micros})`;

/** The conditions of the organisation and the window, on the rows themselves. */
export const inWindow = ({ subject, window }: Target) =>
  `organization_id = '${subject.organizationId}' AND timestamp >= ${moment(window.fromMicros)} AND timestamp <= ${moment(window.toMicros)}`;

/** The conditions of the whole hours in the window, as the projections have them, and of what is left at its edges. */
export function hoursAndEdges({ subject, window }: Target): {
  readonly hours: string;
  readonly edges: string;
} {
  const first = ((window.fromMicros + HOUR_MICROS - 1n) / HOUR_MICROS) * HOUR_MICROS;
  const last = (window.toMicros / HOUR_MICROS) * HOUR_MICROS;
  const organization = `organization_id = '${subject.organizationId}'`;
  const hour = (micros: bigint) => `toDateTime(${micros / 1_000_000n}, 'UTC')`;
  return {
    hours: `${organization} AND toStartOfHour(timestamp) >= ${hour(first)} AND toStartOfHour(timestamp) < ${hour(last)}`,
    edges: `${organization} AND (timestamp >= ${moment(window.fromMicros)} AND timestamp < ${moment(first)}
            OR timestamp >= ${moment(last)} AND timestamp <= ${moment(window.toMicros)})`,
  };
}

/** The sums that figures are made of, by the names that the statements give them. */
export const SUMS = {
  requests: 'count()',
  total_us_sum: 'sum(total_us)',
  ttft_us_sum: 'sum(ttft_us)',
  ttft_count: 'count(ttft_us)',
  timed_tokens: 'sumIf(tokens_generated, isNotNull(generation_us))',
  timed_us: 'sum(generation_us)',
  tokens: 'sum(total_tokens)',
  cost: 'sum(cost_micro_pkr)',
} as const;
export type Sum = keyof typeof SUMS;

/** Without projections to examine, the engine plans a little faster. */
export const RAW = { settings: { optimize_use_projections: 0 } };
