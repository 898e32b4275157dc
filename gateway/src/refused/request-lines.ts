import type { Logger } from 'pino';
import type { Clock, Timers } from '../clock.ts';
import { requestFields } from '../http/log-request.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { IntervalTimer } from './intervals.ts';
import { WriteBudget, type WriteLimits } from './write-budget.ts';

/**
 * The log's line for each request. A request that a provider was asked for always has one; of all others, which cost
 * their sender nothing, those past a number a minute are counted: one line for each key, operation and status in ten
 * seconds. Who has no key that is known is a stranger, and all strangers together are one owner.
 */
export interface RequestLinesOptions {
  readonly log: Logger;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly limits?: WriteLimits;
}

/** Lines of one organisation in a minute, and of all strangers. */
export const LINE_LIMITS: WriteLimits = { singlesOfKey: 60, singles: 300, counts: 300 };

type Fields = Readonly<Record<string, unknown>>;

interface Line {
  readonly message: string;
  /** What lines that are counted together have in common. */
  readonly common: Fields;
  requests: number;
}

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
    this.#budget = new WriteBudget(limits, () => clock.monotonic());
    this.#timer = new IntervalTimer(clock, timers, () => this.#flush());
  }

  /** One line for a request that has been answered, or one more in a count. */
  write(exchange: Exchange): void {
    const { log, clock } = this.#options;
    const fields = requestFields(exchange, clock.monotonic());
    if (exchange.dispatchedAtMs !== undefined) {
      log.info(fields, 'request');
      return;
    }
    const { operation, key_prefix, status, remark } = fields;
    const common = { operation, key_prefix, status, remark };
    this.#write('request', fields, common, exchange.key);
  }

  /** The same for what came over a connection and was no request. */
  writeNoRequest(fields: {
    readonly request_id: string;
    readonly status: number;
    readonly code?: unknown;
  }): void {
    const { status, code } = fields;
    this.#write('malformed request', fields, { status, code }, undefined);
  }

  /** Writes what was counted. */
  close(): void {
    this.#timer.cancel();
    this.#flush();
  }

  #write(message: string, fields: Fields, common: Fields, key: Exchange['key']): void {
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
