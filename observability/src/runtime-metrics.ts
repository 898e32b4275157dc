import { collectDefaultMetrics, Registry } from 'prom-client';
import type { RuntimeMetric } from './process-metrics.ts';

// The timer behind the event-loop delay.
const PRECISION_MS = 20;

/** Measures the runtime of this process from now on: CPU, memory, event-loop delay, garbage collections. */
export function createRuntimeMetrics(): { collect(): Promise<RuntimeMetric[]> } {
  const register = new Registry();
  collectDefaultMetrics({ register, eventLoopMonitoringPrecision: PRECISION_MS });
  return {
    async collect() {
      const metrics = (await register.getMetricsAsJSON()) as unknown as RuntimeMetric[];
      return metrics.map(({ name, values }) => ({ name, values }));
    },
  };
}
