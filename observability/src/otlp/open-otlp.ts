import type { Agent } from 'node:http';
import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api';
import { ExportResultCode, millisToHrTime } from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Metrics } from '../instruments.ts';
import type { SamplerName } from '../sampler-names.ts';
import type { Tracing } from '../tracing.ts';
import { metricData } from './metric-data.ts';
import { createTracing } from './otel-tracing.ts';
import { samplerNamed } from './sampler.ts';

// The official exporters read the standard variables of their own: the collector's address, headers, compression,
// certificates and time limits.

/** Spans that wait for the collector; more are dropped. Each takes a kilobyte or two. */
const MAX_QUEUED_SPANS = 2_048;
// A batch is made into text on the main thread: 128 spans take it about a millisecond.
const SPANS_PER_BATCH = 128;
const SPAN_DELAY_MS = 2_000;
const METRIC_INTERVAL_MS = 60_000;
const EXPORT_TIMEOUT_MS = 10_000;
/** How long the end of the process waits for the collector. */
const MAX_FLUSH_MS = 2_000;

export interface OtlpOptions {
  readonly version: string;
  /** The name of this process. */
  readonly process: string;
  readonly sampler: SamplerName;
  /** From 0 to 1. */
  readonly ratio: number;
  readonly metrics: Metrics;
  /** The agent for requests to the collector; Node's own unless given. */
  readonly agent?: Agent | undefined;
  /** Told of each problem with the collector. */
  readonly onIssue: (issue: string) => void;
  readonly metricIntervalMs?: number;
  readonly spanDelayMs?: number;
}

export interface Otlp extends AsyncDisposable {
  readonly tracing: Tracing;
}

/** Sends traces and the metrics of this process to an OTLP collector, over HTTP. */
export function openOtlp(options: OtlpOptions): Otlp {
  const { version, process, sampler, ratio, metrics, agent, onIssue } = options;
  diag.setLogger(logger(onIssue), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const connection = agent ? { httpAgentOptions: () => agent } : {};
  const own = { 'service.name': 'gatehouse', 'service.version': version, 'gatehouse.process': process };
  const resource = defaultResource()
    .merge(resourceFromAttributes({ ...own, 'service.instance.id': crypto.randomUUID() }))
    .merge(detectResources({ detectors: [envDetector] }));
  const provider = new TracerProvider({
    resource,
    sampler: samplerNamed(sampler, ratio),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter(connection),
        maxQueueSize: MAX_QUEUED_SPANS,
        maxExportBatchSize: SPANS_PER_BATCH,
        scheduledDelayMillis: options.spanDelayMs ?? SPAN_DELAY_MS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  });

  const exporter = new OTLPMetricExporter(connection);
  const since = millisToHrTime(Date.now());
  let isExporting = false;
  const exportMetrics = async (): Promise<void> => {
    if (isExporting) return;
    isExporting = true;
    const collected = metricData(await metrics.collect(), since, millisToHrTime(Date.now()));
    const scopeMetrics = [{ scope: { name: 'gatehouse', version }, metrics: collected }];
    await new Promise<void>((resolve) =>
      exporter.export({ resource, scopeMetrics }, ({ code, error }) => {
        if (code !== ExportResultCode.SUCCESS) onIssue(error?.message ?? 'the metrics were not accepted');
        resolve();
      }),
    );
    isExporting = false;
  };
  const timer = setInterval(() => void exportMetrics(), options.metricIntervalMs ?? METRIC_INTERVAL_MS);
  timer.unref();

  return {
    tracing: createTracing(provider.getTracer('gatehouse', version)),
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      const flushed = Promise.allSettled([provider.shutdown(), exportMetrics()]);
      const late = Promise.withResolvers<void>();
      const timeout = setTimeout(late.resolve, MAX_FLUSH_MS);
      await Promise.race([flushed, late.promise]);
      clearTimeout(timeout);
    },
  };
}

function logger(onIssue: (issue: string) => void): DiagLogger {
  const ignore = () => {};
  const tell = (message: string) => onIssue(message);
  return { error: tell, warn: tell, info: ignore, debug: ignore, verbose: ignore };
}
