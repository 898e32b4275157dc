import { type Clock, withTimeout } from '@gatehouse/concurrency';

/** A credential of a cloud, and for how long it is good. */
export interface Issued<T> {
  readonly value: T;
  /** From now on; infinite for one without an end. */
  readonly livesMs: number;
}

/** A credential is not used in its last minute: a request may take as long to arrive. */
export const MARGIN_MS = 60_000;
/** From here on it is renewed while requests go on with it. */
const EARLY_MS = 5 * 60_000;
/** One without an end may be replaced in its file. */
const MAX_AGE_MS = 60 * 60_000;
/** How long the cloud is left alone after a failure. */
const HOLD_MS = 5_000;
const RENEWAL_TIMEOUT_MS = 10_000;

export interface RenewalListener {
  onFailing(error: unknown): void;
  onRecovered(): void;
}

/**
 * A credential that is renewed before it ends: once, however many requests there are. One that cannot be renewed is used to its end.
 */
export class Renewal<T> {
  readonly #issue: () => Promise<Issued<T>>;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #listener: RenewalListener;
  #issued: { readonly value: T; readonly endsAtMs: number } | undefined;
  #renewAtMs = Number.NEGATIVE_INFINITY;
  #heldUntilMs = Number.NEGATIVE_INFINITY;
  #renewing: Promise<void> | undefined;
  #isFailing = false;

  constructor(issue: () => Promise<Issued<T>>, clock: Pick<Clock, 'monotonicMs'>, listener: RenewalListener) {
    this.#issue = issue;
    this.#clock = clock;
    this.#listener = listener;
  }

  /** Undefined where there is none that is good. */
  get value(): T | undefined {
    const issued = this.#issued;
    return issued && this.#clock.monotonicMs() < issued.endsAtMs ? issued.value : undefined;
  }

  /** Renews it where it is time. The promise, which never rejects, is for those who must wait; undefined where there is no need. */
  ready(): Promise<void> | undefined {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs >= this.#renewAtMs && nowMs >= this.#heldUntilMs) {
      this.#renewing ??= this.#renew().finally(() => {
        this.#renewing = undefined;
      });
    }
    const isGood = this.#issued && nowMs < this.#issued.endsAtMs - MARGIN_MS;
    return isGood ? undefined : this.#renewing;
  }

  async #renew(): Promise<void> {
    try {
      const { value, livesMs } = await withTimeout(
        this.#issue(),
        RENEWAL_TIMEOUT_MS,
        () => new Error(`not issued within ${RENEWAL_TIMEOUT_MS / 1000} s`),
      );
      const nowMs = this.#clock.monotonicMs();
      this.#issued = { value, endsAtMs: nowMs + livesMs };
      // One of a few minutes is renewed when half of them are over.
      const early = Math.min(EARLY_MS, Math.max(MARGIN_MS, livesMs / 2));
      this.#renewAtMs = nowMs + Math.min(livesMs - early, MAX_AGE_MS);
      if (this.#isFailing) this.#listener.onRecovered();
      this.#isFailing = false;
    } catch (error) {
      this.#heldUntilMs = this.#clock.monotonicMs() + HOLD_MS;
      if (!this.#isFailing) this.#listener.onFailing(error);
      this.#isFailing = true;
    }
  }
}
