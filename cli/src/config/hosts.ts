import { isIP } from 'node:net';
import { hostName, isLoopbackHost, type ServedHosts } from '@gatehouse/http';

const NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/;

/** Parses a list of host names or addresses; undefined if one of them is neither. */
export function hostNames(text: string): ServedHosts | undefined {
  if (text.trim() === '*') return '*';
  const names = text.split(',').map((one) => {
    const name = /:\d*$/.test(one.trim()) ? undefined : hostName(one.trim());
    return name !== undefined && (isIP(name) > 0 || NAME.test(name)) ? name : undefined;
  });
  return names.every((name) => name !== undefined) ? new Set(names) : undefined;
}

/**
 * The names that a listener accepts: those of ALLOWED_HOSTS, HOST and ALLOWED_ORIGINS, and of the URL under which the
 * settings send clients to it.
 */
export function servedHosts(
  config: {
    readonly host: string;
    readonly allowedHosts: ServedHosts;
    readonly allowedOrigins: ReadonlySet<string>;
  },
  publicUrl?: string,
): ServedHosts {
  if (config.allowedHosts === '*') return '*';
  const urls = [...config.allowedOrigins, ...(publicUrl === undefined ? [] : [publicUrl])];
  const others = [config.host, ...urls.map((url) => new URL(url).host)].flatMap(
    (host) => hostName(host) ?? [],
  );
  return new Set([...config.allowedHosts, ...others]);
}

/** True if a listener on this host accepts connections from this machine only. */
export function isLoopbackOnly(host: string): boolean {
  const name = hostName(isIP(host) === 6 ? `[${host}]` : host);
  return name !== undefined && isLoopbackHost(name.replace(/^::ffff:(?=\d+\.)/, ''));
}
