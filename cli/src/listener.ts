import { ConfigError } from './config-error.ts';

/** The API or the gateway, as a listener. */
export interface Listener {
  /** Resolves with the port. Throws ConfigError if it cannot listen there. */
  listen(host: string, port: number): Promise<number>;
  /** Accepts no more requests, and resolves once those in flight have finished or their time is over. */
  close(): Promise<void>;
}

/** How long requests in flight may take to finish after a stop was requested, in ms. */
export const GRACE_MS = 25_000;

// What the system answers where processes cannot share a port.
const SHARING_ERRORS = ['ENOTSUP', 'ENOPROTOOPT'];

export function cannotListen(
  setting: string,
  host: string,
  port: number,
): (error: NodeJS.ErrnoException) => never {
  return (error) => {
    if (SHARING_ERRORS.includes(error.code ?? ''))
      throw new ConfigError(
        `GATEWAY_PROCESSES is more than 1, and processes cannot share a port on this system (${error.message}); expected 1`,
      );
    throw new ConfigError(
      `HOST is ${host} and ${setting} is ${port}, where nothing can listen: ${error.message}`,
    );
  };
}
