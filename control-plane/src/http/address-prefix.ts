import { isIPv4, isIPv6 } from 'node:net';

/**
 * The network that an address belongs to, as far as somebody usually has all of it: /24 of IPv4, /48 of IPv6. What is no
 * address is a network of its own.
 */
export function addressPrefix(address: string): string {
  if (isIPv4(address)) return `${address.split('.').slice(0, 3).join('.')}.0/24`;
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  // Of the groups that `::` stands for, as many as lie among the first three.
  if (tail !== undefined) {
    const behind = tail === '' ? 0 : tail.split(':').length + Number(tail.includes('.'));
    groups.push(...Array(8 - groups.length - behind).fill('0'), ...tail.split(':'));
  }
  const plain = groups.slice(0, 3).map((group) => Number.parseInt(group, 16).toString(16));
  return `${plain.join(':')}::/48`;
}
