/** Runs asynchronous work one piece after another, in the order it was asked for. */
export class Serial {
  #tail: Promise<unknown> = Promise.resolve();

  /** Resolves or rejects as `work` does; a piece that fails does not stop the next. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(work);
    this.#tail = result.catch(() => undefined);
    return result;
  }
}
