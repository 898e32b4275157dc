import { BlockList, isIP } from 'node:net';

/** Parses a list of IP addresses and CIDR ranges; undefined if one of them is neither. */
export function addressRanges(text: string): BlockList | undefined {
  const ranges = new BlockList();
  return text.split(',').every((one) => add(ranges, one.trim())) ? ranges : undefined;
}

function add(ranges: BlockList, range: string): boolean {
  const [, address = '', bits] = /^([0-9a-f:.]+)(?:\/(\d{1,3}))?$/i.exec(range) ?? [];
  const version = isIP(address);
  // Peers have plain IPv4 addresses here, so a range in IPv6-mapped form would never match.
  if (version === 0 || /^::ffff:/i.test(address)) return false;
  const maxBits = version === 4 ? 32 : 128;
  const prefix = bits === undefined ? maxBits : Number(bits);
  if (prefix > maxBits) return false;
  ranges.addSubnet(address, prefix, version === 4 ? 'ipv4' : 'ipv6');
  return true;
}
