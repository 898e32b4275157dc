import type { Clock, Timers } from '@gatehouse/concurrency';
import type { Certificate, ServedHosts, UnreadAnswers } from '@gatehouse/http';
import type { KeyRing, Queryable } from '@gatehouse/store';
import type { Logger } from 'pino';
import type { ByteBudget } from '../bodies/byte-budget.ts';
import type { Admissions } from '../credit/admissions.ts';
import type { Facts } from '../facts/facts.ts';
import type { KeyReads } from '../facts/read-keys.ts';
import type { CorsOrigins } from '../http/cross-origin.ts';
import type { Journal } from '../journal/journal.ts';
import type { KeptItems } from '../kept-items/kept-items.ts';
import type { GatewayMetrics } from '../metrics/gateway-metrics.ts';
import type { RateLimiter } from '../rates/rate-limiter.ts';
import type { ReaderPool } from '../readers/reader-pool.ts';
import type { RefusedRequests } from '../refused/refused-requests.ts';
import type { Routing } from '../routing/routing.ts';
import type { MetadataHeaders } from '../steps/metadata.ts';
import type { MetadataBudget } from '../steps/metadata-budget.ts';
import type { ReadOns } from '../steps/read-ons.ts';
import type { Upstreams } from '../upstreams/upstreams.ts';
import type { Permits } from './permits.ts';

export interface Settings {
  /** Largest request body. */
  readonly bodyLimitBytes: number;
  /** How long a request may take to arrive in full; a minute unless given. */
  readonly bodyTimeoutMs?: number;
  /** The highest rate of any key, in requests per minute; none unless given. */
  readonly rateLimitCeilingRpm?: number;
  /** The names that requests may be addressed to, besides localhost; none unless given. Health checks may come under any. */
  readonly allowedHosts?: ServedHosts;
  /** The origins whose pages may use the gateway from a browser; none unless given. */
  readonly corsOrigins?: CorsOrigins;
  /** The clients' headers that are kept as metadata; none unless given. */
  readonly metadataHeaders?: MetadataHeaders;
  /** The providers, by name, that are told of the trace; none unless given. */
  readonly traceContextTo?: ReadonlySet<string>;
  /** With it the gateway speaks HTTPS only. */
  readonly certificate?: Certificate | undefined;
}

/** The dependencies of the steps. */
export interface Dependencies {
  readonly database: Queryable;
  readonly permits: Permits;
  readonly facts: Facts;
  readonly keyReads: KeyReads;
  readonly journal: Journal;
  readonly log: Logger;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly settings: Settings;
  /** The budget of memory for the bytes of all requests and answers in flight. */
  readonly bodies: ByteBudget;
  /** The gateway's own documents that callers have not read. */
  readonly unreadAnswers: UnreadAnswers;
  /** Room that only small request bodies take. */
  readonly smallBodies: ByteBudget;
  readonly readers: ReaderPool;
  readonly readOns: ReadOns;
  readonly rates: RateLimiter;
  /** Counts refused requests where they are too many to be written one by one. */
  readonly refused: RefusedRequests;
  /** Bounds what is stored of the labels of requests. */
  readonly metadata: MetadataBudget;
  /** The items of translated answers, for an hour. */
  readonly keptItems: KeptItems;
  readonly admissions: Admissions;
  readonly upstreams: Upstreams;
  readonly routing: Routing;
  readonly metrics: GatewayMetrics;
  /** The platform's own key for a provider, by the name of its environment variable. */
  readonly platformKey: (envName: string) => string | undefined;
  /** The master keys that stored provider keys are under. */
  readonly keyRing: KeyRing;
}
