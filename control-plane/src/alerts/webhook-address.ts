import ipaddr from 'ipaddr.js';

/** Why no webhook may have this address, by its text alone; undefined if it may. A name is judged when it is connected to. */
export function webhookIssue(text: string, listedHosts: ReadonlySet<string>): string | undefined {
  const url = URL.parse(text);
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return 'The url must be an https address, for example https://hooks.example.com/alerts.';
  if (url.username !== '' || url.password !== '')
    return 'The url must not hold a user or a password. A receiver knows Gatehouse by the signature of each message.';
  if (isListed(url, listedHosts)) return undefined;
  if (url.protocol === 'http:') return 'The url must begin with https://.';
  const address = literalAddress(url);
  return address === undefined || isPublicAddress(address)
    ? undefined
    : `The address ${address} is not a public one. The operator may list a host in ALERT_WEBHOOK_HOSTS.`;
}

/** True if the operator allows the host, wherever its name leads. */
export function isListed({ hostname, port, protocol }: URL, listedHosts: ReadonlySet<string>): boolean {
  const usual = protocol === 'http:' ? '80' : '443';
  const names = [hostname, hostname.replace(/^\[(.*)\]$/, '$1')];
  return names.some((name) => listedHosts.has(name) || listedHosts.has(`${name}:${port || usual}`));
}

/** The IP address that the host of a URL is; undefined for a name. */
export function literalAddress({ hostname }: URL): string | undefined {
  const text = hostname.replace(/^\[(.*)\]$/, '$1');
  return ipaddr.isValid(text) ? text : undefined;
}

// All that is given to networks; the rest of IPv6 has no public addresses.
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3');

/** True for an address of the public internet: not of this machine, a private network or a special range. */
export function isPublicAddress(text: string): boolean {
  const address = ipaddr.process(text);
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(GLOBAL_IPV6));
}
