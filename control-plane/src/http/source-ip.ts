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
    if (isIP(entry)) return plain(entry);
  }
  return plain(peerAddress ?? '');
}

// An IPv4 caller on a dual-stack socket.
function plain(address: string): string {
  return address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}
