/** Connections that go out: by which proxy, and with which certificates. */
export { type ClientTls, ClientTlsError, type ClientTlsFiles, readClientTls } from './client-tls.ts';
export { createFetch } from './proxied-fetch.ts';
export {
  direct,
  isLoopback,
  type ProxyExceptions,
  type ProxyOf,
  parseProxy,
  parseProxyExceptions,
  proxiesFor,
} from './proxies.ts';
export { proxyAgent } from './proxy-agent.ts';
