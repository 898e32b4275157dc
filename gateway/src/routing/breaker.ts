import { type Failure, isRejection } from './retry.ts';

// One upstream, as a breaker sees it, is a model of a provider called with one credential: limits, outages and rejected
// keys come so. While it fails, requests go to another first, so that they do not each find out for themselves.
//
//   closed ──── failures ────▶ open ──── time ────▶ half open ──── one request succeeds ────▶ closed
//                               ▲                       │
//                               └────── it fails ───────┘
//
// It opens at once where the provider cannot be reached, rejects the credential, or is at its limit: the next request would
// fare no better. Other failures may be the request's own, so it takes five in a row, or half of what came within half a
// minute. While it is open nothing is sent, unless there is no other choice. Then one request at a time is let through.

/** In a row. */
const MOST_CONSECUTIVE = 5;
/** Of those within the window, where there were enough to judge by. */
const MOST_SHARE = 0.5;
const LEAST_JUDGED = 10;
const WINDOW_MS = 30_000;
/** The first time that it opens; twice as long each further time. */
const SHORTEST_OPEN_MS = 1_000;
const LONGEST_OPEN_MS = 60_000;
/** Until an operator has replaced a credential, it goes on being rejected. */
const REJECTED_MS = 300_000;

/** When and how long it is not used. */
export interface Opening {
  readonly untilMs: number;
  /** Whether the provider said so itself. Otherwise it is only likely that it fails. */
  readonly isStated: boolean;
  readonly reason: string;
}

/** What an attempt did to it. */
export type Change = 'opened' | 'closed' | undefined;

export class Breaker {
  #consecutive = 0;
  #failures = 0;
  #outcomes = 0;
  #windowSinceMs = 0;
  /** How often it opened in a row. */
  #openings = 0;
  #openedMs = 0;
  #opening: Opening | undefined;
  /** Whether a request is out that shows whether it works again. */
  #isProbed = false;

  /** Undefined while it is closed. Past its time it is half open. */
  get opening(): Opening | undefined {
    return this.#opening;
  }

  /** Whether there is nothing to remember of it. */
  isForgettable(nowMs: number): boolean {
    return !this.#opening && (this.#failures === 0 || nowMs - this.#windowSinceMs >= WINDOW_MS);
  }

  /** When it may be used, as far as time alone decides: `nowMs` or earlier where it may be now. Infinite during a probe. */
  readyAtMs(): number {
    if (!this.#opening) return 0;
    return this.#isProbed ? Number.POSITIVE_INFINITY : this.#opening.untilMs;
  }

  /** Whether a request may be sent now. Of one that is half open, this is the one request: it must end with `endProbe`. */
  take(nowMs: number): 'closed' | 'probe' | undefined {
    if (!this.#opening) return 'closed';
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
    if (!this.#opening || sentMs < this.#openedMs) return undefined;
    this.#opening = undefined;
    this.#openings = 0;
    this.#failures = 0;
    this.#outcomes = 0;
    return 'closed';
  }

  fail(failure: Failure, sentMs: number, nowMs: number): Change {
    this.#count(nowMs, true);
    this.#consecutive += 1;
    const stated = statedMs(failure);
    if (stated !== undefined) return this.#open(stated, true, failure, nowMs);
    // Others that were under way when it opened, or that had no other choice.
    if (this.#opening && (sentMs < this.#openedMs || nowMs < this.#opening.untilMs)) return undefined;
    const isJudged = this.#opening !== undefined || this.#isTooMany() || isSure(failure);
    if (!isJudged) return undefined;
    const backoffMs = Math.min(SHORTEST_OPEN_MS * 2 ** this.#openings, LONGEST_OPEN_MS);
    return this.#open(isRejected(failure) ? REJECTED_MS : backoffMs, false, failure, nowMs);
  }

  #open(ms: number, isStated: boolean, failure: Failure, nowMs: number): Change {
    const untilMs = nowMs + Math.max(ms, SHORTEST_OPEN_MS);
    const before = this.#opening;
    // What the provider says counts more than what is only likely.
    if (before && before.untilMs >= untilMs && before.isStated === isStated) return undefined;
    this.#opening = { untilMs, isStated, reason: reasonOf(failure) };
    this.#openedMs = nowMs;
    this.#openings = Math.min(this.#openings + 1, 16);
    // One that is told to wait longer, while it waits, is no news.
    return before && nowMs < before.untilMs ? undefined : 'opened';
  }

  #isTooMany(): boolean {
    const isHalf = this.#outcomes >= LEAST_JUDGED && this.#failures >= MOST_SHARE * this.#outcomes;
    return this.#consecutive >= MOST_CONSECUTIVE || isHalf;
  }

  #count(nowMs: number, isFailure: boolean): void {
    if (nowMs - this.#windowSinceMs >= WINDOW_MS) {
      this.#windowSinceMs = nowMs;
      this.#failures = 0;
      this.#outcomes = 0;
    }
    this.#outcomes += 1;
    if (isFailure) this.#failures += 1;
  }
}

/** Whether the next request would fail in the same way. */
function isSure(failure: Failure): boolean {
  if (failure.kind === 'unreachable') return true;
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
  timed_out: 'no content in time',
  broken: 'answer broke',
  error_event: 'stream began with an error',
};

function reasonOf(failure: Failure): string {
  return failure.kind === 'error_status' ? `answered ${failure.status}` : REASONS[failure.kind];
}
