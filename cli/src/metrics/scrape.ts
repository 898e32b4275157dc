import type { MetricSnapshot, Metrics, ProcessMetrics } from '@gatehouse/observability';

/** The metrics of the processes of this machine, by the name of each. */
export type CollectProcesses = () => Promise<ReadonlyMap<string, ProcessMetrics>>;

export interface ScrapeOptions {
  /** The name of this process. */
  readonly name: string;
  readonly metrics: Pick<Metrics, 'collect'>;
  /** The other processes; undefined where there are none. */
  readonly collectOthers: CollectProcesses | undefined;
}

/** Collects the metrics of this process and the others, as text. Loads prom-client when it is called. */
export async function createScrape({
  name,
  metrics,
  collectOthers,
}: ScrapeOptions): Promise<{ readonly contentType: string; run(): Promise<string> }> {
  const [{ CONTENT_TYPE, expose }, { createRuntimeMetrics }] = await Promise.all([
    import('@gatehouse/observability/exposition'),
    import('@gatehouse/observability/runtime'),
  ]);
  const runtime = createRuntimeMetrics();
  return {
    contentType: CONTENT_TYPE,
    async run() {
      const [own, measured, others = []] = await Promise.all([
        metrics.collect(),
        runtime.collect(),
        collectOthers?.(),
      ]);
      return expose(new Map([[name, { own: [...own, UP], runtime: measured }], ...others]));
    },
  };
}

const UP: MetricSnapshot = { name: 'gatehouse_process_up', series: [[[], 1]] };
