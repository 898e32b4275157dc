import { isIP } from 'node:net';

/**
 * The caller's address for display: what the outermost of our own proxies appended to X-Forwarded-For, counted
 * from the right, because everything further left is the caller's own word. Without a usable entry, the address
 * of the peer. Never a basis for access.
 */
export function sourceIp(
  forwardedFor: string | undefined,
  peerAddress: string | undefined,
  trustedProxyHops: number,
): string {
  if (trustedProxyHops > 0 && forwardedFor !== undefined) {
    const entry = forwardedFor.split(',').at(-trustedProxyHops)?.trim() ?? '';
    // A zone (`fe80::1%eth0`) means something only on the machine that wrote it, and has no end.
    if (isIP(entry) && !entry.includes('%')) return plain(entry);
  }
  return plain(peerAddress ?? '');
}

// An IPv4 caller on a dual-stack socket.
function plain(address: string): string {
  return /^::ffff:/i.test(address) && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}
