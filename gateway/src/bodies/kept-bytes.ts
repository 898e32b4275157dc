import type { ByteBudget } from './byte-budget.ts';

// Every answer may keep so much without asking: a connection takes as much in any case, and with it answers of the usual
// size go on while others fill the memory.
export const FREE_BYTES = 64 * 1024;
// Taken and given back in steps, not for every packet.
const STEP_BYTES = 64 * 1024;

/** The memory that one answer keeps, taken from the budget that all requests share. */
export class KeptBytes {
  readonly #budget: ByteBudget;
  readonly #owner: string;
  #takenBytes = 0;

  constructor(budget: ByteBudget, owner: string) {
    this.#budget = budget;
    this.#owner = owner;
  }

  /** Changes what is taken to so many bytes; false, and nothing changed, where there is no room for more. */
  set(bytes: number): boolean {
    const wanted = Math.max(0, Math.ceil((bytes - FREE_BYTES) / STEP_BYTES)) * STEP_BYTES;
    if (wanted > this.#takenBytes) {
      if (!this.#budget.take(this.#owner, wanted - this.#takenBytes)) return false;
    } else if (wanted < this.#takenBytes) {
      this.#budget.give(this.#owner, this.#takenBytes - wanted);
    }
    this.#takenBytes = wanted;
    return true;
  }
}
