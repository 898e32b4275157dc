import { type Felt, nothingFelt } from './attack-victim.ts';

// The figures of an attack as a row of a table.

/** The limit for a neighbour's p99, as a multiple of the quiet p99. */
const TIMES_QUIET = 3;

export const TABLE_HEAD = [
  '| | API p50, p99 ms | gateway p50, p99 ms | p99 within 3 x quiet | of requests failed | peak MiB | journal MiB |\n',
  '|---|---|---|---|---|---|---|\n',
].join('');

export interface Row {
  readonly name: string;
  readonly felt: Felt;
  readonly residentMb?: ReadonlyMap<string, number>;
  readonly journalMb?: number;
}

export function rowOf({ name, felt, residentMb, journalMb }: Row, quiet: Felt): string {
  const times = {
    API: at(felt.apiMs, 0.99) / at(quiet.apiMs, 0.99),
    gateway: at(felt.gatewayMs, 0.99) / at(quiet.gatewayMs, 0.99),
  };
  const isWithin = Object.values(times).every((one) => one <= TIMES_QUIET);
  const failures = [...felt.failures].map(([status, count]) => `${count} x ${status}`);
  const asked = felt.apiMs.length + felt.gatewayMs.length;
  const cells = [
    name,
    figuresOf(felt.apiMs),
    figuresOf(felt.gatewayMs),
    `${isWithin ? 'yes' : 'NO'}: API ${times.API.toFixed(1)}, gateway ${times.gateway.toFixed(1)}`,
    `${failures.join(', ') || 'none'} of ${asked}`,
    [...(residentMb ?? [])].map(([part, mb]) => `${part} ${mb.toFixed(0)}`).join(', '),
    journalMb?.toFixed(1) ?? '',
  ];
  return `| ${cells.join(' | ')} |\n`;
}

/** All measurements as one. */
export function together(felt: readonly Felt[]): Felt {
  const all = nothingFelt();
  for (const { apiMs, gatewayMs, failures } of felt) {
    all.apiMs.push(...apiMs);
    all.gatewayMs.push(...gatewayMs);
    for (const [status, count] of failures) all.failures.set(status, (all.failures.get(status) ?? 0) + count);
  }
  return all;
}

function figuresOf(values: readonly number[]): string {
  return `${at(values, 0.5).toFixed(1)}, ${at(values, 0.99).toFixed(1)}`;
}

function at(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN;
}
