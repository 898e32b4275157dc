import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export interface ControlAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
}

/** The options of the process, sent as JSON. */
export interface ApiOptions {
  readonly control: ControlAddress;
  readonly telemetry: { readonly socketPath: string };
  readonly telemetryDatabase: string;
  /** The current time of the API. */
  readonly nowMicros: string;
  /** The folder of a built dashboard. Undefined: it is not served. */
  readonly dashboard?: string;
  /** How long the queries of a request may take together. */
  readonly timeoutMs?: number;
}

export interface ApiProcess extends AsyncDisposable {
  readonly port: number;
  readonly pid: number;
}

/** Starts the API in a process of its own, like the service, with a fixed clock. */
export async function startApi(options: ApiOptions): Promise<ApiProcess> {
  const child = fork(join(import.meta.dirname, 'api-main.ts'), [JSON.stringify(options)], {
    execArgv: ['--max-semi-space-size=64'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  const [message] = (await Promise.race([
    once(child, 'message'),
    ended.then(([code]) => {
      throw new Error(`the API ended with ${code} before it listened`);
    }),
  ])) as [{ readonly port: number }];
  return {
    port: message.port,
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}
