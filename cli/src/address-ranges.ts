import { BlockList, isIP } from 'node:net';

/** Reads a list of IP addresses and CIDR ranges; undefined where one of them is neither. */
export function addressRanges(text: string): BlockList | undefined {
  const ranges = new BlockList();
  return text.split(',').every((one) => add(ranges, one.trim())) ? ranges : undefined;
}

function add(ranges: BlockList, range: string): boolean {
  const [, address = '', bits] = /^([0-9a-f:.]+)(?:\/(\d{1,3}))?$/i.exec(range) ?? [];
  const version = isIP(address);
  // Peers are known by their plain IPv4 address, so a range of them in IPv6 form would never match.
  if (version === 0 || /^::ffff:/i.test(address)) return false;
  const most = version === 4 ? 32 : 128;
  const prefix = bits === undefined ? most : Number(bits);
  if (prefix > most) return false;
  ranges.addSubnet(address, prefix, version === 4 ? 'ipv4' : 'ipv6');
  return true;
}
