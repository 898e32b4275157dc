import type { MetricDeclaration } from '../declaration.ts';
import { alertMetrics, apiMetrics, moneyMetrics } from './control-plane.ts';
import { gatewayMetrics, journalMetrics } from './gateway.ts';
import { postgresMetrics, processMetrics, queueMetrics } from './process.ts';
import { runtimeMetrics } from './runtime.ts';

export {
  alertMetrics,
  apiMetrics,
  gatewayMetrics,
  journalMetrics,
  moneyMetrics,
  postgresMetrics,
  processMetrics,
  queueMetrics,
};

/** Every metric, in the order of the docs. */
export const METRIC_GROUPS: readonly {
  readonly title: string;
  readonly metrics: readonly MetricDeclaration[];
}[] = [
  { title: 'The gateway and the providers', metrics: Object.values(gatewayMetrics) },
  { title: 'Money', metrics: Object.values(moneyMetrics) },
  { title: 'The journal', metrics: Object.values(journalMetrics) },
  { title: 'The API', metrics: [...Object.values(apiMetrics), ...Object.values(alertMetrics)] },
  {
    title: 'PostgreSQL and queues',
    metrics: [...Object.values(postgresMetrics), ...Object.values(queueMetrics)],
  },
  { title: 'Processes', metrics: Object.values(processMetrics) },
  { title: 'Node', metrics: runtimeMetrics },
];

/** Every metric of Gatehouse's own, which a process registers and exposes. */
export const OWN_METRICS: readonly MetricDeclaration[] = METRIC_GROUPS.filter(
  ({ metrics }) => metrics !== runtimeMetrics,
).flatMap(({ metrics }) => metrics);

export const ALL_METRICS: readonly MetricDeclaration[] = METRIC_GROUPS.flatMap(({ metrics }) => metrics);
