import { ByteBlocks, joinBlocks } from '../bodies/byte-blocks.ts';
import { areEventsAt } from '../wire/sse.ts';

/** Bytes enough to tell whether a body is a stream of events. */
const MAX_SNIFFED_BYTES = 64;

/** An answer that is read whole, as far as it has come. Where a stream was asked for, events are told from it whatever its content type is. */
export class CollectedAnswer {
  readonly blocks = new ByteBlocks(undefined, Number.MAX_SAFE_INTEGER);
  areEvents = false;
  /** The first bytes, until it is clear whether they are those of events. */
  #start: string | undefined;

  constructor(mayBeEvents: boolean) {
    this.#start = mayBeEvents ? '' : undefined;
  }

  append(chunk: Buffer): void {
    this.blocks.append(chunk);
    if (this.#start === undefined) return;
    this.#start += chunk.toString('latin1', 0, MAX_SNIFFED_BYTES);
    const areEvents = areEventsAt(this.#start);
    this.areEvents = areEvents === true;
    if (areEvents !== undefined || this.#start.length >= MAX_SNIFFED_BYTES) this.#start = undefined;
  }

  /** All that has come. To be called once: it is handed over. */
  take(): Buffer {
    return joinBlocks(this.blocks.take());
  }
}
