import type { Clock, Timers } from '@gatehouse/concurrency';
import type { Logger } from 'pino';
import type { Operation } from '../context/context.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { IntervalTimer } from './intervals.ts';
import { type LogContext, requestFields } from './log-request.ts';
import { WriteBudget, type WriteLimits } from './write-budget.ts';

/**
 * The log line of each request but probes. A request that was sent to a provider always has one, as a warning where a
 * provider failed. All others cost their sender
 * nothing, so beyond a number per minute they are counted: one line per key, operation and status every ten seconds. A
 * caller without a known key is a stranger, and all strangers share one limit.
 */
export interface RequestLinesOptions {
  readonly log: Logger;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly limits?: WriteLimits;
}

/** Lines per minute, for each organisation and for all strangers together. */
export const LINE_LIMITS: WriteLimits = { singlesOfKey: 60, singles: 300, counts: 300 };

type Fields = Readonly<Record<string, unknown>>;

interface Line {
  readonly message: string;
  /** The fields that all counted requests share. */
  readonly common: Fields;
  requests: number;
}

// Load balancers and supervisors send these all the time, and some clients one before every session.
const PROBES: ReadonlySet<unknown> = new Set<Operation>(['healthz', 'readyz', 'whatIsServed']);

const STRANGERS = '';
const OTHERS = 'others';

export class RequestLines {
  readonly #options: RequestLinesOptions;
  readonly #budget: WriteBudget;
  readonly #timer: IntervalTimer;
  readonly #counted = new Map<string, Line>();

  constructor(options: RequestLinesOptions) {
    const { clock, timers, limits = LINE_LIMITS } = options;
    this.#options = options;
    this.#budget = new WriteBudget(limits, () => clock.monotonicMs());
    this.#timer = new IntervalTimer(clock, timers, () => this.#flush());
  }

  /** Logs an answered request, or counts it. */
  write(exchange: Exchange, context: LogContext): void {
    const { log, clock } = this.#options;
    const isProbe = PROBES.has(context.operation);
    if (isProbe && !log.isLevelEnabled('debug')) return;
    const fields = requestFields(exchange, context, clock.monotonicMs());
    if (isProbe) {
      log.debug(fields, 'request');
      return;
    }
    if (exchange.dispatchedAtMs !== undefined) {
      if ('failure' in fields) log.warn(fields, 'request');
      else log.info(fields, 'request');
      return;
    }
    const { operation, organization_id, key_prefix, status, refusal, remark } = fields;
    const common = { operation, organization_id, key_prefix, status, refusal, remark };
    this.#write('request', fields, common, context.key);
  }

  /** The same for bytes on a connection that were not a valid request. */
  writeNoRequest(fields: {
    readonly request_id: string;
    readonly status: number;
    readonly code?: unknown;
  }): void {
    const { status, code } = fields;
    const event = 'http.request_malformed';
    this.#write('malformed request', { event, ...fields }, { status, code }, undefined);
  }

  /** Writes the remaining counts. */
  close(): void {
    this.#timer.cancel();
    this.#flush();
  }

  #write(message: string, fields: Fields, common: Fields, key: LogContext['key']): void {
    const owner = key?.organizationId ?? STRANGERS;
    const name = `${message} ${JSON.stringify(common)}`;
    if (this.#budget.takeSingle(owner, key?.id ?? name)) {
      this.#options.log.info(fields, message);
      return;
    }
    const known = this.#counted.get(`${owner} ${name}`);
    if (known) known.requests += 1;
    else if (this.#budget.takeCount(owner)) this.#count(`${owner} ${name}`, message, common);
    else this.#count(OTHERS, message, {});
    this.#timer.start();
  }

  #count(name: string, message: string, common: Fields): void {
    const known = this.#counted.get(name);
    if (known) known.requests += 1;
    else this.#counted.set(name, { message, common, requests: 1 });
  }

  #flush(): void {
    for (const { message, common, requests } of this.#counted.values()) {
      this.#options.log.info(
        { event: 'gateway.requests_counted', ...common, requests },
        `${message}, counted`,
      );
    }
    this.#counted.clear();
  }
}
