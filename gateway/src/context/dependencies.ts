import type { Clock, Timers } from '@gatehouse/concurrency';
import type { UnreadAnswers } from '@gatehouse/http';
import type { KeyRing, Queryable } from '@gatehouse/store';
import type { Logger } from 'pino';
import type { ByteBudget } from '../bodies/byte-budget.ts';
import type { Facts } from '../catalogue/facts.ts';
import type { KeyReads } from '../catalogue/read-keys.ts';
import type { Admissions } from '../credit/admissions.ts';
import type { MetadataBudget } from '../exchange/metadata-budget.ts';
import type { Permits } from '../exchange/permits.ts';
import type { ReadOns } from '../exchange/read-ons.ts';
import type { Journal } from '../journal/journal.ts';
import type { KeptItems } from '../kept-items/kept-items.ts';
import type { CloudCredentials } from '../providers/cloud/cloud-credentials.ts';
import type { Upstreams } from '../providers/upstreams.ts';
import type { RateLimiter } from '../rates/rate-limiter.ts';
import type { ReaderPool } from '../readers/reader-pool.ts';
import type { Routing } from '../routing/routing.ts';

/** The settings that a step knows. */
export interface StepSettings {
  /** Largest request body. */
  readonly bodyLimitBytes: number;
  /** The providers, by name, that are told of the trace; none unless given. */
  readonly traceContextTo?: ReadonlySet<string>;
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
  readonly settings: StepSettings;
  /** The budget of memory for the bytes of all requests and answers in flight. */
  readonly bodies: ByteBudget;
  /** The gateway's own documents that callers have not read. */
  readonly unreadAnswers: UnreadAnswers;
  /** Room that only small request bodies take. */
  readonly smallBodies: ByteBudget;
  readonly readers: ReaderPool;
  readonly readOns: ReadOns;
  readonly rates: RateLimiter;
  /** Bounds what is stored of the labels of requests. */
  readonly metadata: MetadataBudget;
  /** The items of translated answers, for an hour. */
  readonly keptItems: KeptItems;
  readonly admissions: Admissions;
  readonly upstreams: Upstreams;
  readonly cloud: CloudCredentials;
  readonly routing: Routing;
  /** The platform's own key for a provider, by the name of its environment variable. */
  readonly platformKey: (envName: string) => string | undefined;
  /** The master keys that stored provider keys are under. */
  readonly keyRing: KeyRing;
}
