import { writeFile } from 'node:fs/promises';
import { Metrics, type RuntimeMetric } from '@gatehouse/observability';
import {
  createTelemetryClient,
  DEFAULT_TELEMETRY_DATABASE,
  MasterKey,
  telemetryDatabase,
} from '@gatehouse/store';
import { readConfig } from '../config/config.ts';
import { openLog } from '../log/log.ts';
import { observeProcess } from '../metrics/observe-process.ts';
import { openTracing } from '../otlp/open-tracing.ts';
import { openAsService } from '../stores/postgres.ts';
import { openKeyRing } from '../vault/master-key-sources.ts';
import type { GatewayMessage, ListenOptions, ParentMessage } from './gateway-child.ts';
import { connectionsOfEach } from './gateway-connections.ts';
import { type GatewayService, openGatewayService } from './gateway-service.ts';
import { openRates } from './rates.ts';

// The gateway process of `gatehouse start`. It uses the stores that its parent keeps running, with connections of its
// own, and ends on request or when its parent has ended.

// Where memory is short, the system ends this process rather than the API or a store.
const OOM_SCORE = '500';
// What is in flight when the parent is gone is ended and recorded; this is more than that takes.
const ORPHAN_LIMIT_MS = 5_000;

let gateway: GatewayService | undefined;
let isStopping = false;
let isStopAnnounced = false;
const metrics = new Metrics();
let runtime: { collect(): Promise<RuntimeMetric[]> } | undefined;
const toListen = Promise.withResolvers<ListenOptions>();
const toStop = Promise.withResolvers<void>();

function stop(): void {
  isStopping = true;
  toStop.resolve();
}

async function report(message: GatewayMessage): Promise<void> {
  await new Promise<void>((resolve) => process.send?.(message, () => resolve()));
}

async function serve(order: ListenOptions): Promise<void> {
  const { environment, serviceLogin, telemetryTarget, shared } = order;
  const config = readConfig(environment);
  // The parent tells the person when the log cannot be written.
  const log = openLog(config.logLevel, () => undefined, {
    role: 'gateway',
    ...(shared && { process: shared.number }),
  });
  if (config.metricsPort !== undefined) {
    runtime = (await import('@gatehouse/observability/runtime')).createRuntimeMetrics();
  }
  await using stack = new AsyncDisposableStack();
  const database = stack.use(
    openAsService(serviceLogin, {
      applicationName: 'gatehouse gateway',
      poolSize: config.gatewayPoolSize ?? connectionsOfEach(shared?.count ?? 1),
      onError: (error) =>
        log.warn({ event: 'postgres.connection_lost', err: error }, 'PostgreSQL connection lost'),
    }),
  );
  observeProcess(metrics, database);
  const name = `gateway-${shared?.number ?? 1}`;
  const { tracing } = stack.use(await openTracing(config, name, metrics, log));
  const telemetry = createTelemetryClient(telemetryTarget);
  stack.defer(() => telemetry.close());
  const keys = order.masterKeys.flatMap((text) => MasterKey.fromText(text) ?? []);
  const rates = await openRates(config, shared, log);
  if (rates) stack.defer(() => rates.close());
  gateway = stack.use(
    await openGatewayService({
      config,
      environment,
      database,
      telemetry,
      telemetryDatabase: telemetryDatabase(telemetryTarget) ?? DEFAULT_TELEMETRY_DATABASE,
      keyRing: openKeyRing(keys, config, environment, log),
      rates,
      metrics,
      tracing,
      log,
    }),
  );
  if (isStopAnnounced) gateway.announceStop();
  await report({
    kind: 'listening',
    port: await gateway.listen(config.host, order.port, shared !== undefined),
  });
  await toStop.promise;
}

async function reportMetrics(id: number): Promise<void> {
  const [own, measured = []] = await Promise.all([metrics.collect(), runtime?.collect()]);
  await report({ kind: 'metrics', id, metrics: { own, runtime: measured } });
}

/** Without the parent the stores go too. What is in flight ends and is recorded in the journal, for the next start. */
async function leave(): Promise<never> {
  // Gone in the middle of a stop: it was asked to end at once.
  if (isStopping) process.exit(1);
  isStopping = true;
  setTimeout(() => process.exit(1), ORPHAN_LIMIT_MS);
  await gateway?.close(0);
  process.exit(1);
}

// What cannot be said on standard error can be said nowhere, and is no reason to end.
process.stderr.on('error', () => undefined);
process.on('disconnect', () => void leave());
process.on('SIGINT', stop);
process.on('SIGTERM', stop);
process.on('message', (order: ParentMessage) => {
  if (order.kind === 'listen') toListen.resolve(order);
  if (order.kind === 'announce_stop') {
    isStopAnnounced = true;
    gateway?.announceStop();
  }
  if (order.kind === 'stop') stop();
  if (order.kind === 'ping') void report({ kind: 'pong' });
  // A scrape without an answer shows that this process did not tell its metrics.
  if (order.kind === 'metrics') reportMetrics(order.id).catch(() => undefined);
});
// Elsewhere than on Linux there is no such file.
await writeFile('/proc/self/oom_score_adj', OOM_SCORE).catch(() => undefined);

let exitCode = 0;
try {
  await serve(await toListen.promise);
} catch (error) {
  exitCode = 1;
  const { name, message, stack, code } = error as NodeJS.ErrnoException;
  await report({ kind: 'failed', error: { name, message, ...(stack && { stack }), ...(code && { code }) } });
}
process.exit(exitCode);
