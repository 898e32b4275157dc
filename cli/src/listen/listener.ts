import { ConfigError } from '../config/config-error.ts';
import { listenIssue } from './listen-issue.ts';
import type { ChosenPort } from './ports.ts';

/** The API or the gateway, as a listener. */
export interface Listener {
  /** Resolves with the port. Throws ConfigError if it cannot listen there. */
  listen(host: string, port: number): Promise<number>;
  /** From here on `/readyz` answers 503 and each connection closes after its next answer. Everything else is served. */
  announceStop(): void;
  /** Accepts no more requests, and resolves once those in flight have finished or their time is over. */
  close(): Promise<void>;
}

/** How long requests in flight may take to finish after a stop was requested, in ms. */
export const GRACE_MS = 25_000;

export function cannotListen(
  setting: string,
  host: string,
  port: number,
  own?: ChosenPort['own'],
): (error: NodeJS.ErrnoException) => never {
  return (error) => {
    throw new ConfigError(listenIssue(error, host, { setting, port, ...(own && { own }) }));
  };
}
