import { type Metric, Registry } from 'prom-client';
import type { MetricDeclaration } from './declaration.ts';
import { ALL_METRICS } from './declarations/index.ts';
import type { SeriesSnapshot } from './instruments.ts';
import type { ProcessMetrics, RuntimeMetric } from './process-metrics.ts';

export const CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

type Value = RuntimeMetric['values'][number];

/** The values that processes sent of one metric. */
interface Told {
  readonly own: { readonly process: string; readonly series: readonly SeriesSnapshot[] }[];
  readonly runtime: { readonly process: string; readonly values: readonly Value[] }[];
}

/**
 * The metrics of several processes as Prometheus reads them. Every series has the label `process`: processes are not
 * added up, because the sum would fall when one of them is replaced, which Prometheus takes for a reset of all.
 */
export async function expose(processes: ReadonlyMap<string, ProcessMetrics>): Promise<string> {
  const told = new Map<string, Told>();
  const toldOf = (name: string): Told => {
    const known = told.get(name) ?? { own: [], runtime: [] };
    told.set(name, known);
    return known;
  };
  for (const [process, { own, runtime }] of processes) {
    for (const { name, series } of own) toldOf(name).own.push({ process, series });
    for (const { name, values } of runtime) toldOf(name).runtime.push({ process, values });
  }
  const registry = new Registry();
  const texts: string[] = [];
  // What is not declared is left out: a newer runtime may measure more.
  for (const declaration of ALL_METRICS) {
    const { name, type, meaning } = declaration;
    const all = told.get(name);
    if (!all) continue;
    const metric = { name, help: meaning, type, values: valuesOfAll(declaration, all) };
    registry.registerMetric({ ...metric, get: async () => metric } as unknown as Metric);
    texts.push(await registry.getSingleMetricAsString(name));
    // The text of one metric takes a millisecond or two. The requests of the API go in between.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return `${texts.join('\n\n')}\n`;
}

function valuesOfAll(declaration: MetricDeclaration, { own, runtime }: Told): Value[] {
  const ownValues = own.flatMap(({ process, series }) =>
    series.flatMap((one) => valuesOf(declaration, one, process)),
  );
  const measured = runtime.flatMap(({ process, values }) =>
    values.map(({ labels, ...rest }) => ({ ...rest, labels: { process, ...labels } })),
  );
  return [...ownValues, ...measured];
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
