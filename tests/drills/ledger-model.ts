import type { OrganizationId } from '@gatehouse/contract';
import type { AdmissionDecision } from '@gatehouse/gateway/testing';
import { seeded } from './seeded.ts';

// The expected state of the ledger, kept in the plainest way, and the next step in one history: an organisation with a few
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
  /** The amount that it was granted. */
  readonly amount: number;
  readonly week: number;
  readonly isByok: boolean;
  /** Its cost, once it has ended. */
  cost: number | undefined;
  /** Its hold, as long as it has one. */
  held: number | undefined;
  /** True once its hold was lowered to its cost. */
  isFinal: boolean;
  /** True if its hold is past its deadline; the reaper then may release or settle it before its node does. */
  readonly isOverdue: boolean;
  isSettled: boolean;
}

export interface Crash {
  /** How many statements are let through before everything is rolled back. */
  readonly after: number;
}

/** A request to be judged. */
export interface WantedAdmission {
  readonly key: ModelKey;
  readonly least: number;
  readonly most: number;
  readonly week: number;
  readonly isByok: boolean;
  readonly isOverdue: boolean;
}

/** The expected answer to an admission, in short. */
export interface Decision {
  readonly kind: AdmissionDecision['kind'];
  readonly granted: number | undefined;
}

export type Step = { readonly crash: Crash | undefined } & (
  | { readonly kind: 'deposit'; readonly amount: number }
  | { readonly kind: 'mint'; readonly limit: number | null }
  | { readonly kind: 'patch'; readonly key: ModelKey; readonly limit: number | null }
  | { readonly kind: 'expire' | 'revoke'; readonly key: ModelKey }
  | {
      readonly kind: 'admit';
      /** Requests whose holds are lowered in the same statement, before the others are judged. */
      readonly finished: readonly ModelRequest[];
      readonly wanted: readonly WantedAdmission[];
      /** True if the gateway goes on although the hold was lost with the database's crash. */
      readonly goesOn: boolean;
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
  organizationId = '' as OrganizationId;
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

  /** The part of the holds that finished requests cost. */
  final(key?: ModelKey): number {
    return this.requests.reduce(
      (sum, one) => sum + (one.isFinal && (key ?? one.key) === one.key ? (one.held ?? 0) : 0),
      0,
    );
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

  /** The next step. */
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
    const ended = this.requests.length > 0 && choice > 0.68 ? this.#ending() : [];
    if (ended.length > 0) return { kind: 'settle', requests: ended, crash };
    return {
      kind: 'admit',
      finished: this.requests.length > 0 && this.#chance(0.5) ? this.#ending() : [],
      wanted: Array.from({ length: this.#upTo(3) }, () => this.#wanted(weeks)),
      goesOn: this.#chance(0.5),
      crash,
    };
  }

  #wanted(weeks: Weeks): WantedAdmission {
    const least = this.#upTo(25);
    return {
      key: this.#one(this.keys),
      least,
      most: least + this.#upTo(25),
      // Now and then by a gateway whose clock is far behind.
      week: weeks.closed > 0 && this.#chance(0.05) ? this.#upTo(weeks.closed - 1) : weeks.now,
      isByok: this.#chance(0.1),
      isOverdue: this.#chance(0.3),
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

  /** The decision that must be made on it now. */
  decide({ key, least, most, week, isByok }: WantedAdmission, weeks: Weeks): Decision {
    const refused = (kind: Decision['kind']) => ({ kind, granted: undefined });
    if (week < weeks.closed) return refused('id_is_closed');
    if (key.isRevoked) return refused('revoked');
    if (key.isExpired) return refused('expired');
    const limit = key.limit ?? Number.POSITIVE_INFINITY;
    const ofKey = { used: key.spent + this.final(key), free: limit - key.spent - key.held };
    const ofAll = { used: this.spent + this.final(), free: this.deposited - this.spent - this.held };
    if (ofKey.used >= limit || limit - ofKey.used < least) return refused('key_credit_exhausted');
    if (!isByok && this.deposited - ofAll.used < least) return refused('budget_exhausted');
    if (ofKey.free < least || (!isByok && ofAll.free < least)) return refused('credit_held');
    return { kind: 'admitted', granted: Math.min(most, ofKey.free, isByok ? most : ofAll.free) };
  }

  /** True if PATCH may set this limit. */
  mayLimit(key: ModelKey, limit: number | null): boolean {
    if (key.isRevoked) return false;
    if (limit === null) return true;
    const others = this.keys.reduce(
      (sum, other) => sum + (other === key || other.isRevoked ? 0 : (other.limit ?? 0)),
      0,
    );
    return limit >= key.spent + this.final(key) && limit + others <= this.deposited;
  }

  admit(
    { key, week, isByok, isOverdue }: WantedAdmission,
    id: string,
    granted: number,
    isHeld: boolean,
  ): void {
    this.requests.push({
      ...{ id, key, amount: granted, week, isByok, isOverdue },
      ...{ held: isHeld ? granted : undefined, isFinal: false, cost: undefined, isSettled: false },
    });
    if (isHeld) key.held += granted;
  }

  /** Lowers what they hold to what they cost, where they hold anything. */
  finish(requests: readonly ModelRequest[]): void {
    for (const request of requests) {
      if (request.held === undefined) continue;
      const cost = request.cost ?? 0;
      request.key.held += cost - request.held;
      request.held = cost;
      request.isFinal = true;
    }
  }

  /** Remembers what is held. What it returns undoes what was done since; requests of since then stay if `goesOn`. */
  save(): (goesOn: boolean) => void {
    const known = this.requests.length;
    const before = this.requests.map(({ held, isFinal }) => ({ held, isFinal }));
    const heldByKeys = this.keys.map(({ held }) => held);
    return (goesOn) => {
      for (const request of this.requests.splice(known)) {
        request.held = undefined;
        if (goesOn) this.requests.push(request);
      }
      before.forEach((state, index) => {
        Object.assign(this.requests[index] as ModelRequest, state);
      });
      heldByKeys.forEach((held, index) => {
        Object.assign(this.keys[index] as ModelKey, { held });
      });
    };
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

  reap(weeks: Weeks): void {
    for (const request of this.requests) {
      if (!request.isOverdue || request.held === undefined) continue;
      if (request.isFinal) this.settle([request], weeks);
      else this.#release(request);
    }
  }

  #release(request: ModelRequest): void {
    if (request.held === undefined) return;
    request.key.held -= request.held;
    request.held = undefined;
  }
}
