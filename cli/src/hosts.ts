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

/** The names that the listeners accept: those of ALLOWED_HOSTS, HOST and ALLOWED_ORIGINS. */
export function servedHosts(config: {
  readonly host: string;
  readonly allowedHosts: ServedHosts;
  readonly allowedOrigins: ReadonlySet<string>;
}): ServedHosts {
  if (config.allowedHosts === '*') return '*';
  const origins = [...config.allowedOrigins].map((origin) => new URL(origin).host);
  const others = [config.host, ...origins].flatMap((host) => hostName(host) ?? []);
  return new Set([...config.allowedHosts, ...others]);
}

/** Whether a listener on this host accepts connections from this machine only. */
export function isLoopbackOnly(host: string): boolean {
  const name = hostName(isIP(host) === 6 ? `[${host}]` : host);
  return name !== undefined && isLoopbackHost(name.replace(/^::ffff:(?=\d+\.)/, ''));
}
