import { systemClock } from '@gatehouse/concurrency';
import type { Metrics } from '@gatehouse/observability';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { servedHosts } from '../config/hosts.ts';
import { cannotListen } from '../listen/listener.ts';
import { createMetricsListener } from './metrics-listener.ts';
import { type CollectProcesses, createScrape } from './scrape.ts';

export interface OpenMetricsOptions {
  readonly config: Config;
  readonly metrics: Metrics;
  /** The name of this process. */
  readonly name: string;
  readonly collectOthers: CollectProcesses | undefined;
  readonly log: Logger;
}

/** The port of the metrics, if the settings have one. */
export interface MetricsPort extends AsyncDisposable {
  readonly port: number | undefined;
}

/** Serves the metrics where METRICS_PORT is set. */
export async function openMetrics({ config, log, ...options }: OpenMetricsOptions): Promise<MetricsPort> {
  const { metricsPort, metricsHost } = config;
  if (metricsPort === undefined) return { port: undefined, async [Symbol.asyncDispose]() {} };
  const scrape = await createScrape(options);
  const listener = createMetricsListener({
    ...scrape,
    allowedHosts: servedHosts({ ...config, host: metricsHost }),
    monotonicMs: systemClock.monotonicMs,
    log,
  });
  const port = await listener
    .listen(metricsHost, metricsPort)
    .catch(
      cannotListen('METRICS_PORT', metricsHost, metricsPort, { setting: 'METRICS_HOST', host: metricsHost }),
    );
  return { port, [Symbol.asyncDispose]: () => listener[Symbol.asyncDispose]() };
}
