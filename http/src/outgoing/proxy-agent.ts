import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { ProxyOf } from './proxies.ts';

/**
 * The agent of node:http or node:https for requests to an address that go through a proxy: by a tunnel for https, as a
 * request for the whole address for http. Undefined where the connection is direct.
 */
export function proxyAgent(
  url: URL,
  proxyOf: ProxyOf,
  options = { keepAlive: false },
): HttpAgent | undefined {
  const proxy = proxyOf(url)?.href;
  if (proxy === undefined) return undefined;
  return url.protocol === 'https:'
    ? new HttpsAgent({ ...options, proxyEnv: { HTTPS_PROXY: proxy } })
    : new HttpAgent({ ...options, proxyEnv: { HTTP_PROXY: proxy } });
}
