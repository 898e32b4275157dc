import { type Config, misspeltSettings, type Role } from './config.ts';
import { openDashboard } from './dashboard.ts';
import { exposureWarning } from './exposure-warning.ts';
import { makeDataDirectory, readChosenCatalogue } from './installation.ts';
import { openLog } from './log.ts';
import { openService } from './service.ts';
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
  const stopRequested = stopSignal();
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
  using dashboard = role === 'gateway' ? undefined : await openDashboard(config.dashboard, printLine, log);
  const service = await openService(config, role, environment, { catalogue, dashboard }, log);
  try {
    const state = await findState(service.database, environment);
    printLine(welcome(config, service, state, performance.now() - startedAt));
    log.info(
      {
        event: 'service.ready',
        api_port: service.apiPort,
        gateway_port: service.gatewayPort,
        metrics_port: service.metricsPort,
      },
      'ready',
    );
    await Promise.race([stopRequested, service.schemaError]);
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

// npm passes on the first Ctrl-C too, so a signal within this time counts as the same one.
const SAME_SIGNAL_MS = 1_000;

/** Resolves at the first SIGINT or SIGTERM. A second signal stops the process immediately: the stores stop by
 *  themselves, and everything acknowledged is in the journal. */
function stopSignal(): Promise<void> {
  const { promise, resolve: stop } = Promise.withResolvers<void>();
  let firstAt: number | undefined;
  const onSignal = () => {
    if (firstAt !== undefined && performance.now() - firstAt > SAME_SIGNAL_MS)
      process.kill(process.pid, 'SIGKILL');
    firstAt ??= performance.now();
    stop();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return promise;
}

function printLine(text: string): void {
  process.stderr.write(`${text}\n`);
}
