import { BlockList, isIP } from 'node:net';
import { isLoopbackHost } from '../served-hosts.ts';

// Which proxy a connection to an address goes through: HTTP_PROXY for http, HTTPS_PROXY for https, none for what NO_PROXY
// names. What a proxy of the network makes of an address of this machine is not meant, so those never go through one.

/** The proxy for an address; undefined for a direct connection. */
export type ProxyOf = (url: URL) => URL | undefined;

export const direct: ProxyOf = () => undefined;

/** True for addresses that go through no proxy. */
export type ProxyExceptions = (url: URL) => boolean;

export interface Proxies {
  readonly http: URL | undefined;
  readonly https: URL | undefined;
  readonly exceptions: ProxyExceptions | undefined;
}

export function proxiesFor({ http, https, exceptions }: Proxies): ProxyOf {
  if (!http && !https) return direct;
  return (url) => {
    const proxy = url.protocol === 'https:' ? https : http;
    return proxy && !isLoopback(url) && !exceptions?.(url) ? proxy : undefined;
  };
}

/** The address of a proxy, `http://` or `https://` with a host; a host with a port alone is reached by http. Undefined for others. */
export function parseProxy(text: string): URL | undefined {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (!url || !/^https?:$/.test(url.protocol) || url.pathname !== '/' || /[?#\s]/.test(text))
    return undefined;
  try {
    decodeURIComponent(url.username);
    decodeURIComponent(url.password);
    return url;
  } catch {
    return undefined;
  }
}

/** True for an address of this machine. */
export function isLoopback({ hostname }: URL): boolean {
  const name = nameOf(hostname);
  // 127.0.0.0/8 mapped into IPv6, as URLs write it.
  return isLoopbackHost(name) || /^::ffff:7f/.test(name);
}

/**
 * Parses a list, separated by commas or spaces: `*`, a name, `.suffix` for all names below it, an address, or a range as
 * 10.0.0.0/8 or 10.0.0.1-10.0.0.9; each but the first and the last with a port or without. Undefined if an entry is none.
 */
export function parseProxyExceptions(text: string): ProxyExceptions | undefined {
  const exceptions: ProxyExceptions[] = [];
  for (const entry of text.toLowerCase().split(/[\s,]+/)) {
    const exception = entry === '' ? never : exceptionOf(entry);
    if (!exception) return undefined;
    exceptions.push(exception);
  }
  return (url) => exceptions.some((isException) => isException(url));
}

const never: ProxyExceptions = () => false;

function exceptionOf(entry: string): ProxyExceptions | undefined {
  if (entry === '*') return () => true;
  const ranges = rangeOf(entry);
  if (ranges) return ({ hostname }) => isListed(ranges, nameOf(hostname));
  const [, host = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(entry) ?? [];
  const isPort = (url: URL) => port === undefined || portOf(url) === Number(port);
  const address = nameOf(host);
  if (isIP(address) !== 0) {
    const one = new BlockList();
    one.addAddress(address, familyOf(address));
    return (url) => isPort(url) && isListed(one, nameOf(url.hostname));
  }
  const [, suffix, name] = /^(?:\*?(\.[a-z0-9_.-]+)|([a-z0-9_][a-z0-9_.-]*))$/.exec(host) ?? [];
  if (suffix !== undefined) return (url) => isPort(url) && nameOf(url.hostname).endsWith(nameOf(suffix));
  // A part of an address, as 10.0, is no name.
  return name === undefined || /(?:^|\.)\d+$/.test(name)
    ? undefined
    : (url) => isPort(url) && nameOf(url.hostname) === nameOf(name);
}

/** An address, or a range of them, without a port. */
function rangeOf(entry: string): BlockList | undefined {
  const [, first = '', bits, last] = /^([0-9a-f:.]+)(?:\/(\d{1,3})|-([0-9a-f:.]+))?$/.exec(entry) ?? [];
  const version = isIP(first);
  if (version === 0) return undefined;
  const maxBits = version === 4 ? 32 : 128;
  const list = new BlockList();
  try {
    if (last !== undefined) list.addRange(first, last, familyOf(first));
    else list.addSubnet(first, Number(bits ?? maxBits), familyOf(first));
    return list;
  } catch {
    return undefined;
  }
}

function isListed(list: BlockList, name: string): boolean {
  return isIP(name) !== 0 && list.check(name, familyOf(name));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

/** A host without brackets and without the dot of the root. */
function nameOf(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

function portOf({ protocol, port }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}
