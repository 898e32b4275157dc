/** Renews the session once for all calls that wait for it. */
export class Renewal {
  readonly #renew: () => Promise<void>;
  #running: Promise<void> | undefined;
  #count = 0;
  #accounts = 0;

  constructor(renew: () => Promise<void>) {
    this.#renew = renew;
  }

  /** How often the session was renewed. A call notes it before it is sent. */
  get count(): number {
    return this.#count;
  }

  /** How often a person signed in or out. A call of one account is never repeated as another. */
  get accounts(): number {
    return this.#accounts;
  }

  /** Someone signed in or out. */
  noteAccount(): void {
    this.#accounts += 1;
    this.#count += 1;
  }

  /** Resolves when the session is newer than `countBefore`. Rejects as the renewal does, or when the signal aborts. */
  async since(countBefore: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.#count > countBefore) return;
    await untilAborted(this.now(), signal);
  }

  /** Renews, or joins the renewal that runs. */
  now(): Promise<void> {
    this.#running ??= this.#renew()
      .then(() => {
        this.#count += 1;
      })
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }
}

/** The others go on waiting when one call is aborted. */
function untilAborted(promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
