import { type BlockList, isIP } from 'node:net';

/** The proxies in front of the service. */
export interface ProxySettings {
  /** How many trusted proxies append to X-Forwarded-For; 0 ignores the header. */
  readonly trustedProxyHops: number;
  /** The peers whose X-Forwarded-For and X-Forwarded-Proto count. */
  readonly trustedProxies: Pick<BlockList, 'check'>;
}

/**
 * The caller's address: the entry that the outermost trusted proxy appended to X-Forwarded-For, counted from the right,
 * because the caller can write everything further left. The header counts only from a trusted proxy. Without a usable
 * entry it is the address of the peer. Never use it for access control.
 */
export function sourceIp(
  forwardedFor: string | undefined,
  peerAddress: string | undefined,
  settings: ProxySettings,
): string {
  const peer = plainAddress(peerAddress ?? '');
  if (forwardedFor !== undefined && isTrustedProxy(peer, settings)) {
    const entry = forwardedFor.split(',').at(-settings.trustedProxyHops)?.trim() ?? '';
    // A zone (`fe80::1%eth0`) is only valid on the machine that wrote it, and of any length.
    if (isIP(entry) && !entry.includes('%')) return plainAddress(entry);
  }
  return peer;
}

/** True if the forwarding headers of the peer, by its plain address, count. */
export function isTrustedProxy(peer: string, { trustedProxyHops, trustedProxies }: ProxySettings): boolean {
  const [address = ''] = peer.split('%');
  const version = isIP(address);
  return (
    trustedProxyHops > 0 && version > 0 && trustedProxies.check(address, version === 4 ? 'ipv4' : 'ipv6')
  );
}

/** The address; for an IPv4 caller on a dual-stack socket, the IPv4 address. */
export function plainAddress(address: string): string {
  return /^::ffff:/i.test(address) && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}
