import { createServer } from 'node:net';
import type { Role } from '../config/config.ts';
import { listenIssue } from './listen-issue.ts';

// The ports are tried before anything is installed, opened or migrated: a second start then fails within a second, by the
// name of the setting, instead of after the stores have opened. The listeners still report a port that was taken since.

/** A port that a listener will open. 0 is any free one. */
export interface ChosenPort {
  /** The name of its setting. */
  readonly setting: string;
  readonly port: number;
  /** The address, and the name of its setting, where that is not HOST. */
  readonly own?: { readonly setting: string; readonly host: string };
}

interface ListenerSettings {
  readonly apiPort?: number | undefined;
  readonly gatewayPort?: number | undefined;
  readonly metricsPort?: number | undefined;
  readonly metricsHost?: string | undefined;
}

/** The ports of a role; those that are known. */
export function chosenPorts(
  { apiPort, gatewayPort, metricsPort, metricsHost }: ListenerSettings,
  role: Role,
): ChosenPort[] {
  return [
    ...(role !== 'gateway' && apiPort !== undefined ? [{ setting: 'PORT', port: apiPort }] : []),
    ...(role !== 'api' && gatewayPort !== undefined ? [{ setting: 'GATEWAY_PORT', port: gatewayPort }] : []),
    ...(metricsPort !== undefined && metricsHost !== undefined
      ? [{ setting: 'METRICS_PORT', port: metricsPort, own: { setting: 'METRICS_HOST', host: metricsHost } }]
      : []),
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
  const address = chosen.own?.host ?? host;
  server.listen({ host: address, port: chosen.port }, listening.resolve);
  try {
    await listening.promise;
  } catch (error) {
    return [listenIssue(error as NodeJS.ErrnoException, address, chosen)];
  }
  await new Promise((resolve) => server.close(resolve));
  return [];
}
