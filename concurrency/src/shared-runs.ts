interface Run<T> {
  /** Ends with it, whether it succeeds or fails. */
  readonly ended: Promise<void>;
  /** The run after it, where a caller waits for one. */
  next: Promise<T> | undefined;
}

/**
 * Work whose result many callers can use: one run at a time for each key. A caller that asks during a run waits for the
 * next one, together with all others that do, so no result is older than the question.
 */
export class SharedRuns<T> {
  readonly #runs = new Map<string, Run<T>>();

  /** How many keys are in use; no others are remembered. */
  get keys(): number {
    return this.#runs.size;
  }

  /** The result of the next run for this key. Of the callers that wait for the same run, the first one's work is done. */
  run(key: string, work: () => Promise<T>): Promise<T> {
    const current = this.#runs.get(key);
    if (!current) return this.#begin(key, work);
    current.next ??= current.ended.then(() => this.#begin(key, work));
    return current.next;
  }

  #begin(key: string, work: () => Promise<T>): Promise<T> {
    const result = work();
    const run: Run<T> = {
      next: undefined,
      ended: result.then(
        () => this.#end(key, run),
        () => this.#end(key, run),
      ),
    };
    this.#runs.set(key, run);
    return result;
  }

  #end(key: string, run: Run<T>): void {
    // Otherwise the next one takes its place.
    if (!run.next) this.#runs.delete(key);
  }
}
