import type { ChosenPort } from './ports.ts';

// What the system answers where processes cannot share a port.
const SHARING_ERRORS = ['ENOTSUP', 'ENOPROTOOPT'];
const MAX_PORT = 65_535;

/** Why nothing can listen there, and what to do, in one sentence. */
export function listenIssue(
  { code, message }: NodeJS.ErrnoException,
  host: string,
  { setting, port, own }: ChosenPort,
): string {
  const hostSetting = own?.setting ?? 'HOST';
  const another = `set ${setting} to another port, for example ${setting}=${port + 100 <= MAX_PORT ? port + 100 : port - 100}`;
  switch (code) {
    case 'EADDRINUSE':
      return `${setting} is ${port}, and another program already listens on that port of ${host}; stop it if it is an earlier Gatehouse, or ${another}`;
    case 'EACCES':
      return `${setting} is ${port}, and this user may not listen there (${message}); ${another}`;
    case 'EADDRNOTAVAIL':
      return `${hostSetting} is ${JSON.stringify(host)}, which is not an address of this machine; set it to one that is, to 127.0.0.1 for this machine only, or to 0.0.0.0 for all addresses`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${hostSetting} is ${JSON.stringify(host)}, a name that cannot be resolved (${message}); set it to an address of this machine`;
    default:
      if (SHARING_ERRORS.includes(code ?? ''))
        return `GATEWAY_PROCESSES is more than 1, and processes cannot share a port on this system (${message}); expected 1`;
      return `${hostSetting} is ${host} and ${setting} is ${port}, where nothing can listen: ${message}`;
  }
}
