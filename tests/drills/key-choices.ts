// Random next steps of the drill's clients: mostly updates, and as many mints as revocations, so that about ten
// keys exist at any time, with limits that together are close to the budget.

export const BUDGET_MICRO_PKR = 1_000_000_000n;

const MIN_KEYS = 6;
const MAX_KEYS = 14;

export interface LiveKey {
  readonly id: string;
  readonly prefix: string;
}

export type Choice =
  | { readonly kind: 'mint'; readonly limitMicroPkr: bigint | null }
  | { readonly kind: 'update'; readonly key: LiveKey; readonly limitMicroPkr: bigint | null }
  | { readonly kind: 'revoke'; readonly key: LiveKey };

/** The keys as the clients know them. A chosen key may be revoked by then. */
export class KnownKeys {
  readonly #live: LiveKey[] = [];
  readonly #gone: LiveKey[] = [];

  minted(key: LiveKey): void {
    this.#live.push(key);
  }

  choose(random: () => number): Choice {
    const oneOf = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
    const chance = random();
    const count = this.#live.length;
    if (count < MIN_KEYS || (chance < 0.2 && count < MAX_KEYS))
      return { kind: 'mint', limitMicroPkr: random() < 0.7 ? null : amount(random, 60) };
    const key = random() < 0.03 && this.#gone.length > 0 ? oneOf(this.#gone) : oneOf(this.#live);
    if (chance < 0.4) {
      // Other clients mostly avoid it from now on.
      this.#revoked(key);
      return { kind: 'revoke', key };
    }
    return { kind: 'update', key, limitMicroPkr: random() < 0.15 ? null : amount(random, 400) };
  }

  #revoked(key: LiveKey): void {
    const at = this.#live.findIndex(({ id }) => id === key.id);
    if (at >= 0) this.#gone.push(...this.#live.splice(at, 1));
  }
}

function amount(random: () => number, mostPkr: number): bigint {
  return BigInt(1 + Math.floor(random() * mostPkr * 1_000_000));
}
