import { ConfigError } from './config-error.ts';

/** One of the two parts that take requests. */
export interface Listener {
  /** Resolves with the port. Throws ConfigError when it cannot listen there. */
  listen(host: string, port: number): Promise<number>;
  /** Takes no more requests, and resolves once those in flight have finished or had their time. */
  close(): Promise<void>;
}

/** How long requests in flight may take to finish once a stop is asked for, in ms. */
export const GRACE_MS = 25_000;

export function cannotListen(setting: string, host: string, port: number): (error: Error) => never {
  return (error) => {
    throw new ConfigError(
      `HOST is ${host} and ${setting} is ${port}, where nothing can listen: ${error.message}`,
    );
  };
}
