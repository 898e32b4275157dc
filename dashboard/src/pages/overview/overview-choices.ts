/** The figures of the overview. Each can be shown in the chart; the first is the default. */
export const METRICS = [
  'requests',
  'errors',
  'spend',
  'tokens',
  'latency-p50',
  'latency-p95',
  'ttft',
  'speed',
] as const;
export type Metric = (typeof METRICS)[number];

/** By what the chart divides a figure. The first is the default. */
export const GROUPINGS = ['model', 'key', 'project', 'nothing'] as const;
export type Grouping = (typeof GROUPINGS)[number];
