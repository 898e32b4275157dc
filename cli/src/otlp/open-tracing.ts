import { systemClock } from '@gatehouse/concurrency';
import { proxyAgent } from '@gatehouse/http/outgoing';
import type { Metrics, Tracing } from '@gatehouse/observability';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { proxyOfSettings, type proxySettings } from '../config/proxy-settings.ts';
import { VERSION } from '../terminal/version.ts';

export interface OpenTracing extends AsyncDisposable {
  /** Undefined where nothing is sent. */
  readonly tracing: Tracing | undefined;
}

/** Sends traces and metrics where a collector is set. Nothing of OpenTelemetry is loaded otherwise. */
export async function openTracing(
  config: Pick<Config, 'otlpEndpoint' | 'tracesSampler' | 'tracesSamplerRatio' | keyof typeof proxySettings>,
  process: string,
  metrics: Metrics,
  log: Pick<Logger, 'warn'>,
): Promise<OpenTracing> {
  if (config.otlpEndpoint === undefined) return { tracing: undefined, async [Symbol.asyncDispose]() {} };
  const { openOtlp } = await import('@gatehouse/observability/otlp');
  return openOtlp({
    version: VERSION,
    process,
    sampler: config.tracesSampler,
    ratio: config.tracesSamplerRatio,
    metrics,
    agent: proxyAgent(new URL(config.otlpEndpoint), proxyOfSettings(config), { keepAlive: true }),
    onIssue: warnEachMinute(log, systemClock.monotonicMs),
  });
}

const MINUTE_MS = 60_000;
const MAX_ISSUE_LENGTH = 300;

/** Warns of the collector once a minute, however often it fails. */
export function warnEachMinute(
  log: Pick<Logger, 'warn'>,
  monotonicMs: () => number,
): (issue: string) => void {
  let warnedAtMs = Number.NEGATIVE_INFINITY;
  let more = 0;
  return (issue) => {
    if (monotonicMs() - warnedAtMs < MINUTE_MS) {
      more += 1;
      return;
    }
    log.warn(
      { event: 'otlp.export_failing', issue: messageOf(issue), ...(more > 0 && { issues_since: more }) },
      'the OpenTelemetry collector does not accept traces or metrics; some are lost',
    );
    warnedAtMs = monotonicMs();
    more = 0;
  };
}

/** The exporter tells its errors as JSON, with stacks. */
function messageOf(issue: string): string {
  try {
    const { message, code } = JSON.parse(issue) as { message?: unknown; code?: unknown };
    const said = [message, code].find((text) => typeof text === 'string' && text !== '');
    return String(said ?? issue).slice(0, MAX_ISSUE_LENGTH);
  } catch {
    return issue.slice(0, MAX_ISSUE_LENGTH);
  }
}
