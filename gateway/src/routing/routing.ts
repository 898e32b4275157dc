import type { Clock } from '@gatehouse/concurrency';
import type { Queryable } from '@gatehouse/store';
import type { Logger } from 'pino';
import { Breakers, type UpstreamChange } from './breakers.ts';
import { CoolingQueue } from './cooling-queue.ts';
import { ResponseMakers } from './response-makers.ts';
import { UpstreamStates } from './upstream-states.ts';

/** The state that is remembered between requests, to choose between the upstreams of the next. */
export interface Routing {
  readonly breakers: Breakers;
  readonly makers: ResponseMakers;
  readonly queue: CoolingQueue;
  /** From 0 up to but not including 1. */
  readonly random: () => number;
  close(): Promise<void>;
}

export interface RoutingOptions {
  readonly clock: Clock;
  readonly timers: Pick<Clock, 'after'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** The database where operators read the states of upstreams. */
  readonly database: Pick<Queryable, 'run'>;
  readonly random?: (() => number) | undefined;
}

export function createRouting({
  clock,
  timers,
  log,
  random = Math.random,
  database,
}: RoutingOptions): Routing {
  const breakers: Breakers = new Breakers({
    nowMs: () => clock.monotonicMs(),
    onChange(change) {
      logChange(log, change, clock.monotonicMs());
      states.add(change);
    },
  });
  const states = new UpstreamStates({ database, clock, log, list: () => breakers.list() });
  const queueClock = {
    monotonicMs: () => clock.monotonicMs(),
    after: (ms: number, then: () => void) => timers.after(ms, then),
  };
  return {
    breakers,
    makers: new ResponseMakers(),
    queue: new CoolingQueue({ breakers, clock: queueClock }),
    random,
    close: () => states.close(),
  };
}

function logChange(
  log: RoutingOptions['log'],
  { name, organizationId, opening }: UpstreamChange,
  nowMs: number,
): void {
  const { provider, upstreamModel, surface, credential, owner } = name;
  const about = {
    provider,
    upstream_model: upstreamModel,
    surface,
    credential,
    ...(organizationId !== null && { organization_id: organizationId }),
  };
  if (!opening) {
    log.info({ event: 'upstream.closed', ...about }, 'upstream works again');
    return;
  }
  const fields = {
    event: 'upstream.opened',
    ...about,
    reason: opening.reason,
    for_ms: Math.ceil(opening.untilMs - nowMs),
  };
  const message = 'upstream fails; requests go to another where there is one';
  // An organisation's own credential is its own to mend.
  if (owner === null) log.warn(fields, message);
  else log.info(fields, message);
}
