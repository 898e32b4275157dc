import type { Clock } from '@gatehouse/concurrency';
import type { ByteBudget } from '../bodies/byte-budget.ts';
import type { Provider } from '../catalogue/route.ts';
import type { ReaderPool } from '../readers/reader-pool.ts';
import type { ConnectionOptions } from './connections.ts';
import { createEcho } from './echo.ts';
import { createHttpUpstreams } from './http-upstream.ts';
import type { Upstream } from './upstream.ts';

export interface Upstreams {
  /** The upstream of this provider; undefined when its row names no usable address, or files that cannot be used. */
  find(provider: Provider): Upstream | undefined;
  close(): Promise<void>;
}

export function createUpstreams(
  clock: Clock,
  readers: ReaderPool,
  bodies: ByteBudget,
  options: ConnectionOptions,
): Upstreams {
  const http = createHttpUpstreams(options);
  const echo = createEcho(clock, readers, bodies);
  return {
    find(provider) {
      if (provider.protocol === 'demo') return echo;
      return provider.baseUrl === null ? undefined : http.at(provider.baseUrl, provider.flags);
    },
    close: () => http.close(),
  };
}
