import type { Verdict } from '@gatehouse/gateway/testing';
import { seeded } from './seeded.ts';

// What the ledger must say, kept in the plainest way, and what happens next in one history: an organisation with a few
// keys, whose every step is drawn from the history's seed. Amounts are small numbers of micro-PKR, so that limits are
// met all the time.

export interface ModelKey {
  id: string;
  limit: number | null;
  isRevoked: boolean;
  isExpired: boolean;
  spent: number;
  held: number;
}

export interface ModelRequest {
  readonly id: string;
  readonly key: ModelKey;
  readonly amount: number;
  readonly week: number;
  /** What it cost, from when it has ended. */
  cost: number | undefined;
  isHeld: boolean;
  /** Whether its hold is past its deadline; the reaper then may release it before it is settled. */
  readonly isOverdue: boolean;
  isSettled: boolean;
}

export interface Crash {
  /** How many statements are let through before everything is rolled back. */
  readonly after: number;
}

export type Step = { readonly crash: Crash | undefined } & (
  | { readonly kind: 'deposit'; readonly amount: number }
  | { readonly kind: 'mint'; readonly limit: number | null }
  | { readonly kind: 'patch'; readonly key: ModelKey; readonly limit: number | null }
  | { readonly kind: 'expire' | 'revoke'; readonly key: ModelKey }
  | {
      readonly kind: 'admit';
      readonly key: ModelKey;
      readonly amount: number;
      readonly week: number;
      readonly isByok: boolean;
      readonly isOverdue: boolean;
      /** Whether the gateway goes on although the hold was lost with the database's crash. */
      readonly goesOn: boolean;
      /** Together with others in one statement, or alone. */
      readonly isTogether: boolean;
    }
  | { readonly kind: 'settle'; readonly requests: readonly ModelRequest[] }
);

/** The weeks that a cohort of histories goes through; `closed` of them are closed. */
export interface Weeks {
  now: number;
  closed: number;
}

export class History {
  readonly seed: number;
  readonly keys: ModelKey[] = [];
  readonly requests: ModelRequest[] = [];
  readonly trace: string[] = [];
  organizationId = '';
  projectId = '';
  deposited = 0;
  /** Requests that were counted. */
  settled = 0;
  readonly #random: () => number;

  constructor(seed: number) {
    this.seed = seed;
    this.#random = seeded(seed);
  }

  get spent(): number {
    return this.keys.reduce((sum, key) => sum + key.spent, 0);
  }

  get held(): number {
    return this.keys.reduce((sum, key) => sum + key.held, 0);
  }

  #upTo(most: number): number {
    return Math.floor(this.#random() * (most + 1));
  }

  #chance(share: number): boolean {
    return this.#random() < share;
  }

  #one<T>(list: readonly T[]): T {
    return list[this.#upTo(list.length - 1)] as T;
  }

  #limit(): number | null {
    return this.#chance(0.25) ? null : 1 + this.#upTo(120);
  }

  /** What happens next. */
  next(weeks: Weeks): Step {
    const crash = this.#chance(1 / 8) ? { after: this.#upTo(4) } : undefined;
    const key = this.#one(this.keys);
    const choice = this.#random();
    const isPoor = this.deposited === 0 && this.#chance(0.6);
    if (choice < 0.08 || isPoor) return { kind: 'deposit', amount: 1 + this.#upTo(150), crash };
    if (choice < 0.13 && this.keys.length < 4) return { kind: 'mint', limit: this.#limit(), crash };
    if (choice < 0.23) return { kind: 'patch', key, limit: this.#limit(), crash };
    if (choice < 0.25) return { kind: 'expire', key, crash: undefined };
    if (choice < 0.28) return { kind: 'revoke', key, crash };
    const ended = this.requests.length > 0 && choice > 0.62 ? this.#ending() : [];
    if (ended.length > 0) return { kind: 'settle', requests: ended, crash };
    return {
      kind: 'admit',
      key,
      amount: this.#upTo(40),
      // Now and then by a gateway whose clock is far behind.
      week: weeks.closed > 0 && this.#chance(0.05) ? this.#upTo(weeks.closed - 1) : weeks.now,
      isByok: this.#chance(0.1),
      isOverdue: this.#chance(0.3),
      goesOn: this.#chance(0.5),
      isTogether: this.#chance(0.5),
      crash,
    };
  }

  /** Some requests, ended or ending now, settled before or not, one of them perhaps twice. */
  #ending(): ModelRequest[] {
    const some = Array.from({ length: 1 + this.#upTo(2) }, () => this.#one(this.requests));
    for (const request of some) {
      if (request.cost !== undefined) continue;
      const kind = this.#random();
      // Nothing was billed, or at most what was set aside, or more.
      request.cost =
        kind < 0.2 ? 0 : kind < 0.9 ? this.#upTo(request.amount) : request.amount + this.#upTo(20);
    }
    return some;
  }

  verdictOn(step: Step & { kind: 'admit' }, weeks: Weeks): Verdict {
    const { key, amount, week, isByok } = step;
    if (week < weeks.closed) return 'id_is_closed';
    if (key.isRevoked) return 'revoked';
    if (key.isExpired) return 'expired';
    if (key.limit !== null && (key.spent + key.held + amount > key.limit || key.spent >= key.limit))
      return 'key_credit_exhausted';
    return isByok || this.spent + this.held + amount <= this.deposited ? 'admitted' : 'budget_exhausted';
  }

  /** Whether PATCH may set this limit. */
  mayLimit(key: ModelKey, limit: number | null): boolean {
    if (key.isRevoked) return false;
    if (limit === null) return true;
    const others = this.keys.reduce(
      (sum, other) => sum + (other === key || other.isRevoked ? 0 : (other.limit ?? 0)),
      0,
    );
    return limit >= key.spent && limit + others <= this.deposited;
  }

  admit(step: Step & { kind: 'admit' }, id: string, isHeld: boolean): void {
    const { key, amount, week, isOverdue } = step;
    this.requests.push({ id, key, amount, week, isOverdue, isHeld, cost: undefined, isSettled: false });
    if (isHeld) key.held += amount;
  }

  settle(requests: readonly ModelRequest[], weeks: Weeks): void {
    for (const request of requests) {
      this.#release(request);
      if (request.isSettled || request.week < weeks.closed) continue;
      request.isSettled = true;
      request.key.spent += request.cost ?? 0;
      this.settled += 1;
    }
  }

  reap(): void {
    for (const request of this.requests) if (request.isOverdue) this.#release(request);
  }

  #release(request: ModelRequest): void {
    if (!request.isHeld) return;
    request.isHeld = false;
    request.key.held -= request.amount;
  }
}
