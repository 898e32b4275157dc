import { CommandError } from './errors.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * On a signal, lets the work close what it opened, and then ends the process by that signal. A second signal ends it at
 * once. The work must race everything against `interrupted`, which rejects on the signal.
 */
export async function unlessInterrupted<T>(work: (interrupted: Promise<never>) => Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => undefined);
  let signal: NodeJS.Signals | undefined;
  const onSignal = (received: NodeJS.Signals) => {
    signal = received;
    stopListening();
    reject(new CommandError('interrupted'));
  };
  const stopListening = () => {
    for (const name of SIGNALS) process.off(name, onSignal);
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  try {
    return await work(promise);
  } finally {
    stopListening();
    if (signal) process.kill(process.pid, signal);
  }
}
