import { unwatchFile, watchFile } from 'node:fs';
import { createRequire } from 'node:module';
import type { ProviderFlags } from '@gatehouse/contract';
import {
  type ClientTls,
  ClientTlsError,
  isLoopback,
  type ProxyOf,
  parseProxy,
  readClientTls,
} from '@gatehouse/http/outgoing';
import type { Logger } from 'pino';
import type { buildConnector as Connectors, Dispatcher, Pool as Pools } from 'undici';
// By private paths: the package's front door loads fetch, WebSocket, caches and mocks too. It takes twice the time of these
// two (147 and 70 ms) and 2.9 MB more. That they are what the front door exports is checked by connections.test.ts.
import buildConnector from 'undici/lib/core/connect.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { remembering } from './connector.ts';

/** The flags of a provider that say how connections to it are made. */
export type Way = Pick<ProviderFlags, 'proxy' | 'caFile' | 'clientCertFile' | 'clientKeyFile'>;

export interface ConnectionOptions {
  /** For providers that state no proxy of their own. */
  readonly proxyOf: ProxyOf;
  readonly log: Pick<Logger, 'error' | 'info'>;
}

/** The connections to one origin. */
export interface Connections {
  /** Undefined while the files of its TLS cannot be used. */
  readonly pool: Dispatcher | undefined;
  close(): Promise<void>;
}

// Each stream takes one for as long as it lasts: a request beyond these waits for another tenant's stream to end.
export const CONNECTIONS = 2_048;
export const CONNECT_TIMEOUT_MS = 5_000;
/** Files of TLS are renewed while the service runs. */
const WATCH_MS = 5_000;

const POOL = { connections: CONNECTIONS, pipelining: 1, allowH2: false } as const;

/**
 * Opens no connection yet. When a file of TLS changes, new requests use what it holds then, and those under way end as they
 * began; a file that cannot be used changes nothing, and is logged.
 */
export function openConnections(origin: string, way: Way, { proxyOf, log }: ConnectionOptions): Connections {
  const files = [way.caFile, way.clientCertFile, way.clientKeyFile].filter((path) => path !== null);
  const proxy = proxyFor(new URL(origin), way, proxyOf);
  let pool: Dispatcher | undefined;
  const open = () => {
    try {
      const tls = files.length === 0 ? {} : readClientTls(tlsFiles(way));
      // The requests under way keep the old one until they end.
      if (pool) {
        void pool.close();
        log.info(
          { event: 'provider.files_renewed', origin },
          'new connections to a provider use its changed files',
        );
      }
      pool = proxy ? throughProxy(proxy, tls) : straight(origin, tls);
    } catch (error) {
      if (!(error instanceof ClientTlsError)) throw error;
      log.error(
        { event: 'provider.files_unusable', origin, issue: error.message },
        pool ? 'a changed file of a provider cannot be used' : 'a file of a provider cannot be used',
      );
    }
  };
  open();
  for (const path of files) watchFile(path, { persistent: false, interval: WATCH_MS }, open);
  return {
    get pool() {
      return pool;
    },
    async close() {
      for (const path of files) unwatchFile(path, open);
      await pool?.destroy();
    },
  };
}

/** The files of a provider's TLS. */
export function tlsFiles({ caFile, clientCertFile, clientKeyFile }: Omit<Way, 'proxy'>) {
  return {
    caFile: caFile ?? undefined,
    certFile: clientCertFile ?? undefined,
    keyFile: clientKeyFile ?? undefined,
  };
}

function proxyFor(url: URL, { proxy }: Pick<Way, 'proxy'>, proxyOf: ProxyOf): URL | undefined {
  if (proxy === null) return proxyOf(url);
  return proxy === 'none' || isLoopback(url) ? undefined : parseProxy(proxy);
}

function straight(origin: string, tls: ClientTls): Dispatcher {
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, allowH2: false, ...tls });
  return new Pool(origin, { ...POOL, connect: remembering(connect) });
}

const requireModule = createRequire(import.meta.url);

/** By a tunnel for https, as requests for the whole address for http. */
function throughProxy(proxy: URL, tls: ClientTls): Dispatcher {
  // Only here, by its front door: the agent uses much of the rest, and few have a proxy.
  const { ProxyAgent } = requireModule('undici') as typeof import('undici');
  return new ProxyAgent({
    uri: proxy.href,
    connectTimeout: CONNECT_TIMEOUT_MS,
    requestTls: { ...tls, allowH2: false },
    // The connections that are asked for a tunnel.
    clientFactory: (origin: URL, options: object) =>
      new Pool(origin, { ...options, ...POOL, headersTimeout: CONNECT_TIMEOUT_MS }),
    factory: (origin: string | URL, options: Pools.Options) => {
      // The agent and the forwarding both give their own.
      const connect = options.connect as Connectors.connector;
      return new Pool(origin, { ...options, ...POOL, connect: remembering(connect) });
    },
  } as ConstructorParameters<typeof ProxyAgent>[0]);
}
