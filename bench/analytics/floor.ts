import type { TelemetryClient } from '@gatehouse/store';
import { quantile } from './quantiles.ts';
import type { At, Facts } from './question.ts';

// The floor: what the engine itself needs. Statements written by hand for one question each, with everything known in
// advance, sent by the plain client from this process and read into objects.

export interface Asking {
  readonly settings?: Readonly<Record<string, string | number>>;
}

export type Ask = <Row>(sql: string, asking?: Asking) => Promise<Row[]>;

/** One way to ask by hand. */
export interface FloorPlan {
  readonly name: string;
  run(ask: Ask): Promise<Facts>;
}

export function askIn(client: TelemetryClient): Ask {
  return async <Row>(query: string, { settings = {} }: Asking = {}) => {
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

/** Tries each way a few times and returns the place of the fastest. */
export async function fastest(
  plansAt: (round: number) => readonly FloorPlan[],
  ask: Ask,
  tries: number,
): Promise<number> {
  const times = plansAt(0).map((): number[] => []);
  for (let round = 0; round < tries; round += 1) {
    for (const [place, plan] of plansAt(round).entries()) {
      const startedAt = performance.now();
      await plan.run(ask);
      times[place]?.push(performance.now() - startedAt);
    }
  }
  const medians = times.map((values) => quantile(values, 0.5));
  return medians.indexOf(Math.min(...medians));
}

const HOUR_MICROS = 3_600_000_000n;

const moment = (micros: bigint) => `fromUnixTimestamp64Micro(${micros})`;

/** The conditions of the organisation and the window, on the rows themselves. */
export const inWindow = ({ subject, window }: At) =>
  `organization_id = '${subject.organizationId}' AND timestamp >= ${moment(window.fromMicros)} AND timestamp <= ${moment(window.toMicros)}`;

/** The conditions of the whole hours in the window, as the projections have them, and of what is left at its edges. */
export function hoursAndEdges({ subject, window }: At): { readonly hours: string; readonly edges: string } {
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

/** Without the projections in sight the engine plans a little faster. */
export const RAW = { settings: { optimize_use_projections: 0 } };
