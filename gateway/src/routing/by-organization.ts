// Looked at for an organisation that has many, and for a value that can be forgotten, before the oldest is.
const MAX_LOOKED_AT = 16;

export interface ByOrganizationOptions<Value> {
  /** The number for all organisations together. */
  readonly max: number;
  /** The number for one organisation. */
  readonly maxOfOne?: number;
  /** True if a value is of no use any more. */
  readonly isForgettable?: (value: Value) => boolean;
}

/**
 * Values that are remembered for each organisation, in bounded memory. One that has its share makes room by its own: it can make nothing of
 * another be forgotten.
 */
export class ByOrganization<Value> {
  readonly #values = new Map<string, Map<string, Value>>();
  readonly #max: number;
  readonly #maxOfOne: number;
  readonly #isForgettable: (value: Value) => boolean;
  #size = 0;

  constructor({ max, maxOfOne = max, isForgettable = () => false }: ByOrganizationOptions<Value>) {
    this.#max = max;
    this.#maxOfOne = maxOfOne;
    this.#isForgettable = isForgettable;
  }

  get size(): number {
    return this.#size;
  }

  /** True if there is anything of the organisation, so that nobody makes a name in vain. */
  has(organizationId: string): boolean {
    return this.#values.has(organizationId);
  }

  find(organizationId: string, name: string): Value | undefined {
    return this.#values.get(organizationId)?.get(name);
  }

  /** The newest is forgotten last. */
  add(organizationId: string, name: string, value: Value): void {
    this.delete(organizationId, name);
    const own = this.#values.get(organizationId);
    if (own && this.#isLarge(own)) this.#makeRoom(organizationId, own);
    else if (this.#size >= this.#max) this.#makeRoomForAnother();
    const values = this.#values.get(organizationId) ?? new Map<string, Value>();
    this.#values.set(organizationId, values.set(name, value));
    this.#size += 1;
  }

  delete(organizationId: string, name: string): void {
    const own = this.#values.get(organizationId);
    if (!own?.delete(name)) return;
    this.#size -= 1;
    if (own.size === 0) this.#values.delete(organizationId);
  }

  /** True if an organisation has as many as it may have; where there is no room, its share of them. */
  #isLarge(own: ReadonlyMap<string, Value>): boolean {
    if (own.size >= this.#maxOfOne) return true;
    return this.#size >= this.#max && own.size * this.#values.size >= this.#max;
  }

  /** The largest of sixteen organisations loses a value; the next time it is the turn of others. */
  #makeRoomForAnother(): void {
    const looked = [...this.#values.entries().take(MAX_LOOKED_AT)];
    let most = looked[0];
    for (const entry of looked) {
      if (most && entry[1].size > most[1].size) most = entry;
      this.#values.delete(entry[0]);
      this.#values.set(...entry);
    }
    if (most) this.#makeRoom(...most);
  }

  #makeRoom(organizationId: string, own: ReadonlyMap<string, Value>): void {
    const looked = [...own.entries().take(MAX_LOOKED_AT)];
    const [name] = looked.find(([, value]) => this.#isForgettable(value)) ?? looked[0] ?? [];
    if (name !== undefined) this.delete(organizationId, name);
  }
}
