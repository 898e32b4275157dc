/** What the chart of the overview can show, and by what it can be divided. The first is the default. */
export const METRICS = ['requests', 'errors', 'latency', 'ttft', 'speed', 'tokens', 'spend'] as const;
export type Metric = (typeof METRICS)[number];

export const GROUPINGS = ['model', 'key', 'project', 'nothing'] as const;
export type Grouping = (typeof GROUPINGS)[number];
