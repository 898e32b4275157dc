import { createServer } from 'node:net';
import type { Role } from './config.ts';
import { listenIssue } from './listen-issue.ts';

// The ports are tried before anything is installed, opened or migrated: a second start then fails within a second, by the
// name of the setting, instead of after the stores have opened. The listeners still report a port that was taken since.

/** A port that a listener will open. 0 is any free one. */
export interface ChosenPort {
  /** The name of its setting. */
  readonly setting: string;
  readonly port: number;
}

/** The ports of a role; those that are known. */
export function chosenPorts(
  {
    apiPort,
    gatewayPort,
  }: { readonly apiPort?: number | undefined; readonly gatewayPort?: number | undefined },
  role: Role,
): ChosenPort[] {
  return [
    ...(role !== 'gateway' && apiPort !== undefined ? [{ setting: 'PORT', port: apiPort }] : []),
    ...(role !== 'api' && gatewayPort !== undefined ? [{ setting: 'GATEWAY_PORT', port: gatewayPort }] : []),
  ];
}

/** Tries each port and closes it again. Returns what is wrong, a sentence for each. */
export async function portIssues(host: string, chosen: readonly ChosenPort[]): Promise<string[]> {
  const firstOf = (port: number) => chosen.find((one) => one.port === port);
  const twice = chosen.flatMap((one) => {
    const first = firstOf(one.port);
    return one.port === 0 || first === undefined || first === one
      ? []
      : `${first.setting} and ${one.setting} are both ${one.port}; set one of them to another port`;
  });
  // Port 0 is always free and shows whether the host can be used.
  const different = chosen.filter((one) => firstOf(one.port) === one);
  const tried = await Promise.all(different.map((one) => tryPort(host, one)));
  // What is wrong with the host is wrong with each port.
  return [...twice, ...new Set(tried.flat())];
}

async function tryPort(host: string, chosen: ChosenPort): Promise<string[]> {
  const server = createServer();
  const listening = Promise.withResolvers<void>();
  server.once('error', listening.reject);
  server.listen({ host, port: chosen.port }, listening.resolve);
  try {
    await listening.promise;
  } catch (error) {
    return [listenIssue(error as NodeJS.ErrnoException, host, chosen)];
  }
  await new Promise((resolve) => server.close(resolve));
  return [];
}
