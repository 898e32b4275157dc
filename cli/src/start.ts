import { type Config, type Role, unusedSettings } from './config.ts';
import { openLog } from './log.ts';
import { openService } from './service.ts';
import { findState, welcome } from './welcome.ts';

/**
 * Runs the service until SIGINT or SIGTERM, then stops it in good order. The log goes to standard output; what is meant for the person who started it goes to standard error.
 */
export async function start(
  config: Config,
  role: Role,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const log = openLog(config.logLevel, tellOnce());
  const startedAt = performance.now();
  // Listened for from the first moment, so that a Ctrl-C during the start also stops what was opened.
  const asked = stopAsked();
  tell('Starting Gatehouse ...');
  for (const name of unusedSettings(environment))
    log.warn({ setting: name }, 'a setting is not used by this version');
  const service = await openService(config, role, environment, log);
  try {
    const state = await findState(service.database, environment);
    tell(welcome(config, service, state, performance.now() - startedAt));
    log.info({ api_port: service.apiPort, gateway_port: service.gatewayPort, role }, 'ready');
    await Promise.race([asked, service.schemaRefused]);
    tell('Stopping: finishing what is in flight ...');
  } finally {
    await service[Symbol.asyncDispose]();
  }
  tell('Stopped.');
}

/** What the log's own faults are told with: the first of them, and no other. */
function tellOnce(): (error: Error) => void {
  let isTold = false;
  return (error) => {
    if (!isTold) tell(`The log cannot be written: ${error.message}`);
    isTold = true;
  };
}

// A second Ctrl-C this much later is impatience; sooner, it is the first one, passed on by npm as well.
const IMPATIENCE_MS = 1_000;

/** Resolves at the first SIGINT or SIGTERM. Asked again later, the process ends at once: the stores look after
 *  themselves when it is gone, and what was acknowledged is in the journal. */
function stopAsked(): Promise<void> {
  const { promise, resolve: stop } = Promise.withResolvers<void>();
  let firstAt: number | undefined;
  const onSignal = () => {
    if (firstAt !== undefined && performance.now() - firstAt > IMPATIENCE_MS)
      process.kill(process.pid, 'SIGKILL');
    firstAt ??= performance.now();
    stop();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return promise;
}

function tell(text: string): void {
  process.stderr.write(`${text}\n`);
}
