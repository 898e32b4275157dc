import { type Config, misspeltSettings, type Role } from '../config/config.ts';
import { DRAIN_DELAY_OF_ROLE_SECONDS } from '../config/drain-setting.ts';
import { exposureWarning } from '../config/exposure-warning.ts';
import { openLog } from '../log/log.ts';
import { openFilesLimit, openFilesWarning } from '../process/open-files.ts';
import { onStopSignals } from '../process/stop-signals.ts';
import { openDashboard } from './dashboard.ts';
import { makeDataDirectory, readChosenCatalogue } from './installation.ts';
import { openService } from './service.ts';
import { collectStartGarbage } from './start-garbage.ts';
import { findState, welcome } from './welcome.ts';

/**
 * Runs the service until SIGINT or SIGTERM, then stops it. The log goes to standard output; messages for the person who
 * started it go to standard error.
 */
export async function start(
  config: Config,
  role: Role,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const log = openLog(config.logLevel, printFirstLogError(), { role });
  const startedAt = performance.now();
  // From now on, so that Ctrl-C during the start also closes what is open.
  const stop = onStopSignals();
  // Both are checked before anything is printed or started, so that a wrong setting gets one line.
  await makeDataDirectory(config.dataDir);
  const catalogue = await readChosenCatalogue(config);
  printLine('Starting Gatehouse ...');
  for (const { name, meant } of misspeltSettings(environment))
    log.warn(
      { event: 'config.setting_unknown', setting: name, ...(meant && { did_you_mean: meant }) },
      'unknown setting has no effect',
    );
  const exposure = exposureWarning(config);
  if (exposure)
    log.warn(
      { event: 'service.exposed_over_plain_http', detail: exposure },
      'no TLS in front of the service',
    );
  const fewFiles = openFilesWarning(await openFilesLimit());
  if (fewFiles)
    log.warn({ event: 'service.few_open_files', detail: fewFiles }, 'the limit of open files is low');
  using dashboard = role === 'gateway' ? undefined : await openDashboard(config.dashboard, printLine, log);
  const service = await openService(config, role, environment, { catalogue, dashboard }, log);
  try {
    const state = await service.whenAnswered(() => findState(service.database, environment));
    printLine(welcome(config, environment, service, state, performance.now() - startedAt));
    log.info(
      {
        event: 'service.ready',
        api_port: service.apiPort,
        gateway_port: service.gatewayPort,
        metrics_port: service.metricsPort,
      },
      'ready',
    );
    collectStartGarbage();
    const signal = await Promise.race([stop.requested, service.schemaError]);
    const drainDelaySeconds = drainDelayFor(signal, role, config);
    if (drainDelaySeconds > 0) {
      printLine(`Stopping: /readyz answers 503, and requests are served for ${drainDelaySeconds} s more ...`);
      log.info(
        { event: 'service.stop_announced', drain_delay_seconds: drainDelaySeconds },
        'stopping; still serving',
      );
      service.announceStop();
      await Promise.race([stop.wait(drainDelaySeconds * 1_000), service.schemaError]);
    }
    printLine('Stopping: finishing requests in flight ...');
  } finally {
    await service[Symbol.asyncDispose]();
  }
  printLine('Stopped.');
}

/** Prints the first error of the log itself, and no other. */
function printFirstLogError(): (error: Error) => void {
  let isPrinted = false;
  return (error) => {
    if (!isPrinted) printLine(`The log cannot be written: ${error.message}`);
    isPrinted = true;
  };
}

/** A person who presses Ctrl-C waits for no balancer, and neither does one who ends the whole service on a laptop. */
function drainDelayFor(signal: NodeJS.Signals, role: Role, { drainDelaySeconds }: Config): number {
  if (signal === 'SIGINT') return 0;
  return drainDelaySeconds ?? (role === 'all' ? 0 : DRAIN_DELAY_OF_ROLE_SECONDS);
}

function printLine(text: string): void {
  process.stderr.write(`${text}\n`);
}
