/** A queue of ascending times in a ring that doubles when it is full. */
export class RequestTimes {
  #ring = new Float64Array(8);
  #first = 0;
  #size = 0;
  #isSorted = true;

  get size(): number {
    return this.#size;
  }

  at(index: number): number | undefined {
    this.#sort();
    return index < 0 || index >= this.#size
      ? undefined
      : this.#ring[(this.#first + index) % this.#ring.length];
  }

  /** Any time. One before the newest has the rest sorted when they are read next. */
  add(time: number): void {
    if (this.#size === this.#ring.length) this.#copyTo(new Float64Array(this.#ring.length * 2));
    const newest = this.#size === 0 ? time : this.#ring[this.#indexOf(this.#size - 1)];
    if (newest !== undefined && time < newest) this.#isSorted = false;
    this.#ring[this.#indexOf(this.#size)] = time;
    this.#size += 1;
  }

  dropUntil(time: number): void {
    for (let oldest = this.at(0); oldest !== undefined && oldest <= time; oldest = this.at(0)) {
      this.#first = this.#indexOf(1);
      this.#size -= 1;
    }
  }

  #indexOf(position: number): number {
    return (this.#first + position) % this.#ring.length;
  }

  #sort(): void {
    if (this.#isSorted) return;
    this.#copyTo(new Float64Array(this.#ring.length));
    this.#ring.subarray(0, this.#size).sort();
    this.#isSorted = true;
  }

  #copyTo(ring: Float64Array<ArrayBuffer>): void {
    for (let position = 0; position < this.#size; position += 1)
      ring[position] = this.#ring[this.#indexOf(position)] as number;
    this.#ring = ring;
    this.#first = 0;
  }
}
