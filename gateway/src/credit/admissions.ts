import {
  createFairBatcher,
  QueueFull,
  QueueTimeout,
  systemClock,
  type Urgency,
} from '@gatehouse/concurrency';
import type { OrganizationId } from '@gatehouse/contract';
import { DatabaseUnavailable, isLockTimeout, type Queryable } from '@gatehouse/store';
import { type Admission, type AdmissionDecision, admitBatch, type FinishedHold } from './queries.ts';

// Requests of all organisations are admitted together: those that arrive while a statement is in flight share the next
// one, fairly by organisation. A decision always comes from a statement that was sent after the request arrived, never
// from an earlier answer.
//
// A finished request, whose hold is to be lowered to its cost, waits a few milliseconds for a statement to ride in, and
// then goes by itself. It is in its organisation's queue when its answer is delivered, so the caller's next request to
// this process is judged after it. Another process may judge one before it: a request that only lacks credit that others
// hold is therefore judged once more, a moment later, before it is refused or granted less than it wants.
//
// Every request of an organisation changes the same row, its balance, so an organisation has one statement in flight at a
// time. A statement of several organisations gives up soon where a row is locked, and then each of them goes alone for a
// while: a locked row delays other organisations once, by that time limit.

/** How admissions share statements. */
export const ADMISSION_BATCHES = {
  mostPerBatch: 128,
  batches: 3,
  spacingMs: 5,
  batchesAlone: 3,
  queuePerTenant: 1_000,
  queueTotal: 20_000,
  delayMs: 4,
};

// An admission takes milliseconds, and so does any change that locks the same rows.
const SHARED_LOCK_TIMEOUT_MS = 100;

// Longer than a hold waits to be lowered, anywhere.
const JUDGED_AGAIN_AFTER_MS = 25;

// One statement for the wanted amount, one for what is unspent on the key, in the organisation and in the tightest spend limit; a fifth
// only if credit is spent meanwhile.
const JUDGED_IN_FULL = 4;

// Less may be granted, down to what the request needs.
const LACKS_CREDIT = new Set(['key_credit_exhausted', 'budget_exhausted', 'spend_limit_reached']);

export interface Admissions {
  /**
   * Decides on the request and holds the granted amount, or changes nothing. Grants less than what is wanted and unspent only
   * where others still hold it a moment later. Throws DatabaseUnavailable.
   */
  admit(
    organizationId: OrganizationId,
    admission: Omit<Admission, 'organizationId'>,
  ): Promise<AdmissionDecision>;
  /**
   * Lowers the hold of a recorded request to its cost, within a few milliseconds and before the organisation's next
   * request is judged here. A hold that no longer exists is ignored. Throws DatabaseUnavailable.
   */
  finish(organizationId: OrganizationId, finished: Omit<FinishedHold, 'organizationId'>): Promise<void>;
  /** Resolves once everything that finished before is written. Throws DatabaseUnavailable. */
  flush(organizationId: OrganizationId): Promise<void>;
  /** Writes everything that waits. */
  drain(): Promise<void>;
  /** How many wait for their statement to be sent. */
  waiting(): number;
}

/** Undefined only waits for what is before it. */
type Item = { readonly admission: Admission } | { readonly finished: FinishedHold } | undefined;
type Answer = AdmissionDecision | undefined;

/** `timeoutMs` is how long a request waits for its statement to be sent. */
export function createAdmissions(database: Queryable, timeoutMs: number): Admissions {
  const batcher = createFairBatcher<Item, Answer>({
    ...ADMISSION_BATCHES,
    timeoutMs,
    send: (items, isShared) => send(database, items, isShared),
    // A locked row is no reason to reject the organisations that only shared the statement.
    isUnavailable: (error, isShared) =>
      error instanceof DatabaseUnavailable && !(isShared && isLockTimeout(error)),
  });

  const submit = (organizationId: OrganizationId, item: Item, urgency?: Urgency): Promise<Answer> =>
    batcher.submit(organizationId, item, urgency).answer.catch((error: unknown) => {
      if (!(error instanceof QueueFull || error instanceof QueueTimeout)) throw error;
      throw new DatabaseUnavailable('too many requests wait to be admitted', { cause: error });
    });

  const judge = async (admission: Admission): Promise<AdmissionDecision> => {
    const decision = await submit(admission.organizationId, { admission });
    if (!decision) throw new Error('a request was left without a decision');
    return decision;
  };

  /**
   * Grants all that is wanted or, where less is unspent, all that is unspent. Where others hold part of that, it decides
   * `credit_held`. A request with enough credit takes one statement.
   */
  const judgeInFull = async (admission: Admission): Promise<AdmissionDecision> => {
    const { leastMicroPkr } = admission;
    let { mostMicroPkr } = admission;
    for (let count = 0; count < JUDGED_IN_FULL; count += 1) {
      const decision = await judge({ ...admission, leastMicroPkr: mostMicroPkr, mostMicroPkr });
      if (!LACKS_CREDIT.has(decision.kind) || !('limitMicroPkr' in decision)) return decision;
      const unspentMicroPkr = decision.limitMicroPkr - decision.spentMicroPkr;
      if (unspentMicroPkr < leastMicroPkr || unspentMicroPkr >= mostMicroPkr) return decision;
      mostMicroPkr = unspentMicroPkr;
    }
    return judge(admission);
  };

  return {
    async admit(organizationId, given) {
      const admission = { ...given, organizationId };
      const decision = await judgeInFull(admission);
      if (decision.kind !== 'credit_held') return decision;
      await systemClock.sleep(JUDGED_AGAIN_AFTER_MS);
      return judge(admission);
    },
    async finish(organizationId, given) {
      await submit(organizationId, { finished: { ...given, organizationId } }, 'can_wait');
    },
    async flush(organizationId) {
      await submit(organizationId, undefined);
    },
    drain: () => batcher.drain(),
    waiting: () => batcher.waiting(),
  };
}

async function send(database: Queryable, items: readonly Item[], isShared: boolean): Promise<Answer[]> {
  const admissions: Admission[] = [];
  const finished: FinishedHold[] = [];
  for (const item of items) {
    if (!item) continue;
    if ('admission' in item) admissions.push(item.admission);
    else finished.push(item.finished);
  }
  if (admissions.length + finished.length === 0) return items.map(() => undefined);
  const lockTimeoutMs = isShared ? SHARED_LOCK_TIMEOUT_MS : undefined;
  const decisions = (await admitBatch(database, { finished, admissions, lockTimeoutMs })).values();
  return items.map((item) => (item && 'admission' in item ? decisions.next().value : undefined));
}
