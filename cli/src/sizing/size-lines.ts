import type { Size } from './size.ts';

/** The name of each figure of a size, in the order of a report. */
export const SIZE_LINES: readonly (readonly [member: keyof Size, name: string, unit: string])[] = [
  ['gatewayProcesses', 'gateway processes', ''],
  ['gatewayNodes', 'gateway nodes, one of them spare', ''],
  ['gatewayCores', 'cores of the gateways', ''],
  ['gatewayMemoryGb', 'memory of the gateways', 'GB'],
  ['apiNodes', 'API nodes', ''],
  ['databases', 'PostgreSQL primaries', ''],
  ['postgresCores', 'cores of PostgreSQL', ''],
  ['postgresConnections', 'connections to PostgreSQL', ''],
  ['walMbPerSecond', 'write-ahead log', 'MB/s'],
  ['settlementGb', 'settlements, seven hours', 'GB'],
  ['positionGb', 'positions, 100 days', 'GB'],
  ['clickhouseCores', 'cores of ClickHouse for inserts', ''],
  ['clickhouseGbPerDay', 'request log a day', 'GB'],
  ['clickhouseGb', 'request log as long as kept', 'GB'],
  ['redisCores', 'cores of Redis', ''],
  ['journalMbPerSecond', 'journals', 'MB/s'],
  ['backlogGbPerHour', 'journals, for each hour that a store is away', 'GB'],
  ['storeMbitPerSecond', 'network to the stores', 'Mbit/s'],
  ['bodyMbitPerSecond', 'network of callers and providers', 'Mbit/s'],
];

/** Two digits; small figures keep theirs. */
export function figure(value: number): string {
  if (value === 0 || Number.isInteger(value)) return grouped(value);
  if (value < 0.01) return '<0.01';
  const digits = Math.max(0, 1 - Math.floor(Math.log10(value)));
  return digits === 0 ? grouped(Math.round(value)) : value.toFixed(digits);
}

const grouped = (value: number) => value.toLocaleString('en-US');

/** A line for each figure, a column for each size. */
export function sizeRows(sizes: readonly Size[]): string[][] {
  return SIZE_LINES.map(([member, name, unit]) => [
    unit === '' ? name : `${name}, ${unit}`,
    ...sizes.map((size) => figure(size[member])),
  ]);
}
