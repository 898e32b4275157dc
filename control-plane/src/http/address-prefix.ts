import { isIPv4, isIPv6 } from 'node:net';

/**
 * The network of an address, which usually belongs to one home or company: its /24, or its /48 in IPv6. Any other
 * text is its own network.
 */
export function addressPrefix(address: string): string {
  if (isIPv4(address)) return `${address.split('.').slice(0, 3).join('.')}.0/24`;
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  // Expands `::` as far as it reaches into the first three groups.
  if (tail !== undefined) {
    const behind = tail === '' ? 0 : tail.split(':').length + Number(tail.includes('.'));
    groups.push(...Array(8 - groups.length - behind).fill('0'), ...tail.split(':'));
  }
  const plain = groups.slice(0, 3).map((group) => Number.parseInt(group, 16).toString(16));
  return `${plain.join(':')}::/48`;
}
