export type { MetricDeclaration, MetricType } from './declaration.ts';
export * from './declarations/index.ts';
export {
  Counter,
  type Family,
  Histogram,
  type MetricSnapshot,
  Metrics,
  type Report,
  type SeriesSnapshot,
} from './instruments.ts';
export type { ProcessMetrics, RuntimeMetric } from './process-metrics.ts';
export { SAMPLER_NAMES, type SamplerName } from './sampler-names.ts';
export type { Span, SpanAttributes, Tracing } from './tracing.ts';
