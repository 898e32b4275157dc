import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { isTrustedProxy, type ProxySettings, plainAddress, sourceIp } from './source-ip.ts';

/** Where a request came from, as far as it can be told. */
export interface Caller {
  /** For display and the activity log only; see source-ip.ts. */
  readonly sourceIp: string;
  /**
   * The network of that address, by which registrations are counted: its /24, or its /48 in IPv6. Undefined for a
   * program on this machine that no proxy speaks for.
   */
  readonly network: string | undefined;
  /** Whether it came without TLS. False where a proxy of ours does not say. */
  readonly isPlainHttp: boolean;
}

export function callerOf(
  headers: IncomingHttpHeaders,
  peerAddress: string | undefined,
  settings: ProxySettings,
): Caller {
  const forwardedFor = joined(headers['x-forwarded-for']);
  const address = sourceIp(forwardedFor, peerAddress, settings);
  const peer = plainAddress(peerAddress ?? '');
  // A proxy on this machine whose entry cannot be used must not make everybody behind it a program on this machine.
  const isLocal = isLoopback(peer) && forwardedFor === undefined;
  return {
    sourceIp: address,
    network: isLocal ? undefined : networkOf(address),
    isPlainHttp: isPlainHttp(headers, isTrustedProxy(peer, settings), settings.trustedProxyHops),
  };
}

function isPlainHttp(headers: IncomingHttpHeaders, isFromProxy: boolean, hops: number): boolean {
  const protocols = joined(headers['x-forwarded-proto'])?.split(',');
  if (!isFromProxy) return true;
  if (protocols) return (protocols.at(-hops) ?? protocols[0])?.trim().toLowerCase() === 'http';
  return headers['x-forwarded-for'] === undefined;
}

/** `203.0.113.0/24`, `2001:db8:7::/48`: what one household or company usually has. */
export function networkOf(address: string): string {
  const version = isIP(address);
  if (version === 4) return `${address.split('.').slice(0, 3).join('.')}.0/24`;
  // The URL parser writes an IPv6 address in its one shortest form.
  const short = version === 6 && URL.parse(`http://[${address.split('%')[0]}]/`)?.hostname.slice(1, -1);
  if (!short) return address;
  const [left = '', right] = short.split('::');
  const groups = left === '' ? [] : left.split(':');
  const tail = right ? right.split(':') : [];
  const zeros = Array<string>(8 - groups.length - tail.length).fill('0');
  return `${[...groups, ...zeros, ...tail].slice(0, 3).join(':')}::/48`;
}

function isLoopback(address: string): boolean {
  return address === '::1' || (isIP(address) === 4 && address.startsWith('127.'));
}

function joined(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.join(', ');
}
