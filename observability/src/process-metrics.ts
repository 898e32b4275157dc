import type { MetricSnapshot } from './instruments.ts';

/** A metric of the runtime, in the form that prom-client writes as JSON. */
export interface RuntimeMetric {
  readonly name: string;
  readonly values: readonly {
    readonly value: number;
    readonly labels: Readonly<Record<string, string | number>>;
    readonly metricName?: string;
  }[];
}

/** The metrics that one process sends for a scrape. */
export interface ProcessMetrics {
  readonly own: readonly MetricSnapshot[];
  readonly runtime: readonly RuntimeMetric[];
}
