import { isIP } from 'node:net';

// A page on the internet can make its own name resolve to an address of this machine or network (DNS rebinding). The
// browser then takes what answers there for the page's own site and lets the page read it. The Host header, which holds
// the page's name, gives it away. An address in it is harmless: a page loaded from an address came from that very
// listener. So addresses and localhost are always served, other names only where the operator lists them.

/** The names that a listener serves besides localhost, lower-case and without a port; `*` is every name. */
export type ServedHosts = ReadonlySet<string> | '*';

/** Why a request is not for this listener: 400 for an invalid Host header, 421 for a host that is not served. */
export interface HostError {
  readonly status: 400 | 421;
  readonly sentence: string;
}

/** The facts of a request about its host, as `node:http` has them. */
export interface AddressedRequest {
  readonly rawHeaders: readonly string[];
  /** The target of the request line. */
  readonly url?: string | undefined;
  readonly httpVersion: string;
}

/** Checks the Host header, and the host of an absolute target (`GET http://host/path`). The port does not count. */
export function checkHost(request: AddressedRequest, served: ServedHosts): HostError | undefined {
  const hosts = valuesOf(HOST, request.rawHeaders);
  if (hosts.length > 1) return { status: 400, sentence: 'Only one Host header is accepted.' };
  if (hosts.length === 0 && request.httpVersion === '1.1')
    return { status: 400, sentence: 'A Host header is needed.' };
  if (served === '*') return undefined;
  const { url = '' } = request;
  const target = url.startsWith('/') ? undefined : /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1];
  if (target !== undefined) hosts.push(target);
  for (const host of hosts) {
    const name = hostName(host);
    if (name === undefined) {
      return {
        status: 400,
        sentence: 'The Host header must be a host name or an IP address, with or without a port.',
      };
    }
    if (!isServed(name, served)) return { status: 421, sentence: notServed(name) };
  }
  return undefined;
}

const HOST = 'host';

/** The values of a header, by its name in lower case. */
function valuesOf(name: string, rawHeaders: readonly string[]): string[] {
  const values: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const one = rawHeaders[at] as string;
    if (one.length === name.length && one.toLowerCase() === name) values.push(rawHeaders[at + 1] as string);
  }
  return values;
}

/** True if a host, with a port or without, is served under its name. */
export function isServedHost(host: string, served: ServedHosts): boolean {
  const name = hostName(host);
  return name !== undefined && (served === '*' || isServed(name, served));
}

function isServed(name: string, served: ReadonlySet<string>): boolean {
  return isIP(name) > 0 || isLocalName(name) || served.has(name);
}

const MAX_QUOTED_LENGTH = 100;

function notServed(name: string): string {
  return `The host ${JSON.stringify(name.slice(0, MAX_QUOTED_LENGTH))} is not served here. Served are IP addresses, localhost and the names in ALLOWED_HOSTS.`;
}

/** The name or address in a Host header, lower-case, without port and brackets; undefined where it has none. */
export function hostName(host: string): string | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^\s:/?#@,;\\[\]]+?)\.?)(?::\d{0,5})?$/i.exec(host);
  const name = match?.[1] ?? match?.[2];
  return match?.[1] !== undefined && isIP(match[1]) !== 6 ? undefined : name?.toLowerCase();
}

/** True if a name or address, as `hostName` returns it, is this machine for every client. */
export function isLoopbackHost(name: string): boolean {
  return isLocalName(name) || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
}

// Names under localhost never leave the machine (RFC 6761).
function isLocalName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost');
}

const HEALTH_PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

/** Health checks are answered under every host name: load balancers send whatever name they like. */
export function isHealthPath(path: string): boolean {
  return HEALTH_PATHS.has(path);
}
