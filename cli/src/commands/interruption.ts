import { CommandError } from './errors.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Lets what is open be closed before a signal ends the process, as it then does. A second signal does so at once.
 * The work is to wait for `interrupted` beside everything else, and to close what it has opened when that rejects.
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
