import { collectDefaultMetrics, Registry } from 'prom-client';
import type { RuntimeMetric } from './process-metrics.ts';

// The timer behind the event-loop delay.
const PRECISION_MS = 20;
// Sums over the types of others, which Prometheus makes itself. They are gauges that are named like counters.
const LEFT_OUT = [
  'nodejs_active_resources_total',
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
];

/** Measures the runtime of this process from now on: CPU, memory, event-loop delay, garbage collections. */
export function createRuntimeMetrics(): { collect(): Promise<RuntimeMetric[]> } {
  const register = new Registry();
  collectDefaultMetrics({ register, eventLoopMonitoringPrecision: PRECISION_MS });
  for (const name of LEFT_OUT) register.removeSingleMetric(name);
  return {
    async collect() {
      const metrics = (await register.getMetricsAsJSON()) as unknown as RuntimeMetric[];
      return metrics.map(({ name, values }) => ({ name, values }));
    },
  };
}
