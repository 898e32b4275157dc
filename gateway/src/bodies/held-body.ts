import type { ByteBudget } from './byte-budget.ts';

/** A body up to this size is small: it has a memory budget of its own, and is read on the main thread. */
export const SMALL_BODY_BYTES = 64 * 1024;

export interface BodyRooms {
  /** For all bytes in flight. */
  readonly bodies: ByteBudget;
  /** For small request bodies only, so that large ones never keep them out. */
  readonly smallBodies: ByteBudget;
}

/** The share that one request's body holds of the memory that all requests have in common (docs/decisions/0028). */
export class HeldBody {
  readonly #rooms: BodyRooms;
  readonly #owner: string;
  #room: ByteBudget | undefined;
  #bytes = 0;

  constructor(rooms: BodyRooms, owner: string) {
    this.#rooms = rooms;
    this.#owner = owner;
  }

  /** Makes it this much. Whether there was room; what is held stays as it was if not. */
  resize(bytes: number): boolean {
    const more = bytes - this.#bytes;
    if (more <= 0) {
      this.#room?.give(this.#owner, -more);
      this.#bytes = bytes;
      return true;
    }
    const { bodies, smallBodies } = this.#rooms;
    const rooms = bytes <= SMALL_BODY_BYTES ? [smallBodies, bodies] : [bodies];
    for (const room of rooms) {
      const isHere = room === this.#room;
      if (!room.take(this.#owner, isHere ? more : bytes)) continue;
      if (!isHere) this.#room?.give(this.#owner, this.#bytes);
      this.#room = room;
      this.#bytes = bytes;
      return true;
    }
    return false;
  }

  release(): void {
    this.resize(0);
  }
}
