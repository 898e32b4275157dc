import { type BlockList, isIP } from 'node:net';

/** Which proxies stand in front of the service. */
export interface ProxySettings {
  /** How many proxies of ours append to X-Forwarded-For; 0 ignores the header. */
  readonly trustedProxyHops: number;
  /** The peers whose X-Forwarded-For and X-Forwarded-Proto count. */
  readonly trustedProxies: Pick<BlockList, 'check'>;
}

/**
 * The caller's address: what the outermost of our own proxies appended to X-Forwarded-For, counted from the right,
 * because everything further left is the caller's own word. The header counts only from a peer that is a proxy of ours.
 * Without a usable entry, the address of the peer. Never a basis for access.
 */
export function sourceIp(
  forwardedFor: string | undefined,
  peerAddress: string | undefined,
  settings: ProxySettings,
): string {
  const peer = plainAddress(peerAddress ?? '');
  if (forwardedFor !== undefined && isTrustedProxy(peer, settings)) {
    const entry = forwardedFor.split(',').at(-settings.trustedProxyHops)?.trim() ?? '';
    // A zone (`fe80::1%eth0`) means something only on the machine that wrote it, and has no end.
    if (isIP(entry) && !entry.includes('%')) return plainAddress(entry);
  }
  return peer;
}

/** Whether what the peer, by its plain address, forwards for others counts. */
export function isTrustedProxy(peer: string, { trustedProxyHops, trustedProxies }: ProxySettings): boolean {
  const [address = ''] = peer.split('%');
  const version = isIP(address);
  return (
    trustedProxyHops > 0 && version > 0 && trustedProxies.check(address, version === 4 ? 'ipv4' : 'ipv6')
  );
}

/** An address as it is written; of an IPv4 caller on a dual-stack socket, the IPv4 one. */
export function plainAddress(address: string): string {
  return /^::ffff:/i.test(address) && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}
