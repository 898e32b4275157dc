import { type Metric, Registry } from 'prom-client';
import type { MetricDeclaration } from './declaration.ts';
import { ALL_METRICS } from './declarations/index.ts';
import type { SeriesSnapshot } from './instruments.ts';
import type { ProcessMetrics, RuntimeMetric } from './process-metrics.ts';

export const CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

const DECLARATIONS = new Map(ALL_METRICS.map((declaration) => [declaration.name, declaration]));

type Value = RuntimeMetric['values'][number];

/**
 * The metrics of several processes as Prometheus reads them. Every series has the label `process`: processes are not
 * added up, because the sum would fall when one of them is replaced, which Prometheus takes for a reset of all.
 */
export async function expose(processes: ReadonlyMap<string, ProcessMetrics>): Promise<string> {
  const values = new Map<string, Value[]>();
  const valuesNamed = (name: string): Value[] => {
    const known = values.get(name) ?? [];
    values.set(name, known);
    return known;
  };
  for (const [process, { own, runtime }] of processes) {
    for (const { name, series } of own) {
      const declaration = DECLARATIONS.get(name);
      const all = valuesNamed(name);
      if (declaration) for (const one of series) all.push(...valuesOf(declaration, one, process));
    }
    for (const { name, values: measured } of runtime) {
      const all = valuesNamed(name);
      for (const { labels, ...rest } of measured) all.push({ ...rest, labels: { process, ...labels } });
    }
  }
  const registry = new Registry();
  // What is not declared is left out: a newer runtime may measure more.
  for (const { name, type, meaning } of ALL_METRICS.filter((metric) => values.has(metric.name))) {
    const metric = { name, help: meaning, type, values: values.get(name) };
    registry.registerMetric({ ...metric, get: async () => metric } as unknown as Metric);
  }
  return registry.metrics();
}

function valuesOf(
  { name, labels: names, buckets }: MetricDeclaration,
  [given, value, sum]: SeriesSnapshot,
  process: string,
): Value[] {
  const labels: Record<string, string> = { process };
  for (const [index, label] of names.entries()) labels[label] = given[index] ?? '';
  if (typeof value === 'number') return [{ value, labels }];
  let total = 0;
  const counted = value.map((count, index) => {
    total += count;
    return {
      metricName: `${name}_bucket`,
      value: total,
      labels: { ...labels, le: String(buckets[index] ?? '+Inf') },
    };
  });
  return [
    ...counted,
    { metricName: `${name}_sum`, value: sum ?? 0, labels },
    { metricName: `${name}_count`, value: total, labels },
  ];
}
