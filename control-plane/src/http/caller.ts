import type { IncomingHttpHeaders } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { addressPrefix } from './address-prefix.ts';
import { isTrustedProxy, type ProxySettings, plainAddress, sourceIp } from './source-ip.ts';

/** The origin of a request, as far as it is known. */
export interface Caller {
  /** For display and the activity log only; see source-ip.ts. */
  readonly sourceIp: string;
  /**
   * The network of that address, by which registrations are limited. Undefined for a program on this machine that did
   * not come through a proxy.
   */
  readonly network: string | undefined;
  /** True if the caller used no TLS. False where a trusted proxy does not say. */
  readonly isPlainHttp: boolean;
  /** True if a trusted proxy sent the request on, so that what it says of the caller counts. */
  readonly isFromProxy: boolean;
}

export function callerOf(
  headers: IncomingHttpHeaders,
  socket: Pick<Socket, 'remoteAddress'> & { readonly encrypted?: boolean },
  settings: ProxySettings,
): Caller {
  const { remoteAddress: peerAddress, encrypted = false } = socket;
  const forwardedFor = joined(headers['x-forwarded-for']);
  const address = sourceIp(forwardedFor, peerAddress, settings);
  const peer = plainAddress(peerAddress ?? '');
  // Callers behind a proxy on this machine are not programs on this machine, even if the proxy's header is unusable.
  const isLocal = isLoopback(peer) && forwardedFor === undefined;
  const isFromProxy = isTrustedProxy(peer, settings);
  return {
    sourceIp: address,
    network: isLocal ? undefined : addressPrefix(address),
    isPlainHttp: isPlainHttp(headers, encrypted, isFromProxy, settings.trustedProxyHops),
    isFromProxy,
  };
}

function isPlainHttp(
  headers: IncomingHttpHeaders,
  isEncrypted: boolean,
  isFromProxy: boolean,
  hops: number,
): boolean {
  const protocols = joined(headers['x-forwarded-proto'])?.split(',');
  if (!isFromProxy) return !isEncrypted;
  if (protocols) return (protocols.at(-hops) ?? protocols[0])?.trim().toLowerCase() === 'http';
  return !isEncrypted && headers['x-forwarded-for'] === undefined;
}

function isLoopback(address: string): boolean {
  return address === '::1' || (isIP(address) === 4 && address.startsWith('127.'));
}

function joined(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.join(', ');
}
