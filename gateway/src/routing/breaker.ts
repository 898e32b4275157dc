import { type Change, type Opening, OpenState } from './open-state.ts';
import { OutcomeWindow } from './outcome-window.ts';
import { type Failure, isRejection } from './retry.ts';

// One upstream, as a breaker sees it, is a model and a surface of a provider, called with one credential for one organisation:
// limits, outages and rejected requests come so. While it fails, requests go to another first, so that they do not each find
// out for themselves. What fails for more than one organisation: shared-breaker.ts.
//
//   closed ──── failures ────▶ open ──── time ────▶ half open ──── one request succeeds ────▶ closed
//                               ▲                       │
//                               └────── it fails ───────┘
//
// It opens at once where the provider cannot be reached, rejects the credential, or is at its limit: the next request would
// fare no better. Other failures may be the request's own, so it takes five in a row, or half of what came within half a
// minute. While it is open nothing is sent, unless there is no other choice. Then one request at a time is let through.

/** In a row. */
export const MAX_CONSECUTIVE = 5;
/** Until an operator has replaced a credential, it goes on being rejected. */
export const REJECTED_MS = 300_000;

export class Breaker {
  readonly #state = new OpenState();
  readonly #window = new OutcomeWindow();
  #consecutive = 0;
  /** True if a request is out that shows whether it works again. */
  #isProbed = false;

  /** Undefined while it is closed. Past its time it is half open. */
  get opening(): Opening | undefined {
    return this.#state.opening;
  }

  /** True if there is nothing to remember of it. */
  isForgettable(nowMs: number): boolean {
    return !this.opening && this.#window.isQuiet(nowMs);
  }

  /** When it may be used, as far as time alone decides: `nowMs` or earlier where it may be now. Infinite during a probe. */
  readyAtMs(): number {
    if (!this.opening) return 0;
    return this.#isProbed ? Number.POSITIVE_INFINITY : this.opening.untilMs;
  }

  /** True if a request may be sent now. Of one that is half open, this is the one request: it must end with `endProbe`. */
  take(nowMs: number): 'closed' | 'probe' | undefined {
    if (!this.opening) return 'closed';
    if (this.readyAtMs() > nowMs) return undefined;
    this.#isProbed = true;
    return 'probe';
  }

  /** To be called once for each probe, after its outcome if it had one. */
  endProbe(): void {
    this.#isProbed = false;
  }

  succeed(sentMs: number, nowMs: number): Change {
    this.#count(nowMs, false);
    this.#consecutive = 0;
    // An answer to what was sent before it opened says nothing about now.
    if (!this.opening || !this.#state.isAbout(sentMs)) return undefined;
    this.#state.close();
    this.#window.clear();
    return 'closed';
  }

  /** `wasProbe`: whether it was sent to find out whether the upstream works again, for whomever. */
  fail(failure: Failure, sentMs: number, nowMs: number, wasProbe = false): Change {
    this.#count(nowMs, true);
    this.#consecutive += 1;
    const reason = reasonOf(failure);
    const stated = statedMs(failure);
    if (stated !== undefined) return this.#state.open(stated, true, reason, nowMs);
    // Others that were under way when it opened, or that had no other choice.
    if (!this.#state.isAbout(sentMs) || this.#state.isOpen(nowMs)) return undefined;
    const isJudged = this.opening !== undefined || wasProbe || this.#isTooMany() || isSure(failure);
    if (!isJudged) return undefined;
    const ms = isRejected(failure) ? REJECTED_MS : this.#state.backoffMs;
    return this.#state.open(ms, false, reason, nowMs);
  }

  #isTooMany(): boolean {
    return this.#consecutive >= MAX_CONSECUTIVE || this.#window.hasTooMany();
  }

  #count(nowMs: number, isFailure: boolean): void {
    this.#window.turn(nowMs);
    this.#window.count(isFailure);
  }
}

/** True if the organisation's next request would fail in the same way. */
function isSure(failure: Failure): boolean {
  if (failure.kind === 'unreachable' || failure.kind === 'disconnected') return true;
  return failure.kind === 'error_status' && (failure.status === 429 || isRejected(failure));
}

function isRejected(failure: Failure): boolean {
  return failure.kind === 'error_status' && isRejection(failure.status);
}

function statedMs(failure: Failure): number | undefined {
  return failure.kind === 'error_status' && !isRejection(failure.status) ? failure.retryAfterMs : undefined;
}

const REASONS: Readonly<Record<Exclude<Failure['kind'], 'error_status'>, string>> = {
  unreachable: 'could not be reached',
  disconnected: 'connection ended without an answer',
  timed_out: 'no content in time',
  broken: 'answer broke',
  error_event: 'stream began with an error',
};

export function reasonOf(failure: Failure): string {
  return failure.kind === 'error_status' ? `answered ${failure.status}` : REASONS[failure.kind];
}
