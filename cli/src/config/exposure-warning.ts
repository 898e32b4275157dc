import { type Config, settings } from './config.ts';
import { isLoopbackOnly } from './hosts.ts';

/** Tells the operator if other machines can reach the service and nothing says that TLS is in front of it. */
export function exposureWarning(
  config: Pick<Config, 'host' | 'tlsCert' | 'trustedProxies' | 'trustedProxyHops'>,
): string | undefined {
  const { host, tlsCert, trustedProxies, trustedProxyHops } = config;
  const hasProxy = trustedProxyHops > 0 && trustedProxies !== settings.trustedProxies.read(undefined);
  if (tlsCert !== undefined || hasProxy || isLoopbackOnly(host)) return undefined;
  return `HOST is ${host}, which other machines can reach, over plain HTTP: passwords and keys cross the network readable, and browsers there cannot sign in. Set TLS_CERT and TLS_KEY; or put a proxy with TLS in front, with its address in TRUSTED_PROXIES; or set HOST to 127.0.0.1. See docs/deployment.md.`;
}
