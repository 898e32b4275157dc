import { countFor, type PartialCount } from './count-tokens.ts';
import type { CountMemory } from './remembered-counts.ts';

/** Pieces of texts on their way to a reader thread: its memory is moved there and back, and is not on a heap. */
export interface UncountedTexts {
  /** JSON strings one after the other, since a text may hold half a character. */
  readonly bytes: Buffer<ArrayBuffer>;
  /** Where each of them ends. */
  readonly ends: readonly number[];
  /** How many are counted already. */
  readonly counted: number;
}

/** Undefined where nothing is left to count. */
export function uncounted(pieces: readonly string[]): UncountedTexts | undefined {
  if (pieces.length === 0) return undefined;
  const parts = pieces.map((piece) => Buffer.from(JSON.stringify(piece)));
  let end = 0;
  const ends = parts.map(({ length }) => {
    end += length;
    return end;
  });
  const bytes = Buffer.from(new ArrayBuffer(end));
  for (const [index, part] of parts.entries()) bytes.set(part, ends[index - 1] ?? 0);
  return { bytes, ends, counted: 0 };
}

/** Counts further pieces for about so many milliseconds: their tokens, and how many pieces are counted then. */
export async function countFurther(
  milliseconds: number,
  bytes: Buffer,
  { ends, counted }: Omit<UncountedTexts, 'bytes'>,
  memory?: CountMemory,
): Promise<{ readonly tokens: number; readonly counted: number }> {
  const until = performance.now() + milliseconds;
  let tokens = 0;
  let at = counted;
  do {
    const piece = JSON.parse(bytes.toString('utf8', ends[at - 1] ?? 0, ends[at])) as string;
    tokens += (await countFor(1, [piece], memory)).tokens;
    at += 1;
  } while (at < ends.length && performance.now() <= until);
  return { tokens, counted: at };
}

/** Counts for so long, and keeps what is left then. */
export class PartialCounter {
  readonly #milliseconds: number;
  readonly #memory: CountMemory | undefined;
  #latest: PartialCount = { tokens: 0, rest: [], tookMs: 0 };

  constructor(milliseconds: number, memory?: CountMemory) {
    this.#milliseconds = milliseconds;
    this.#memory = memory;
  }

  get rest(): PartialCount['rest'] {
    return this.#latest.rest;
  }

  get tookMs(): number {
    return this.#latest.tookMs;
  }

  /** To be called once. */
  readonly count = async (texts: Iterable<string>): Promise<number> => {
    this.#latest = await countFor(this.#milliseconds, texts, this.#memory);
    return this.#latest.tokens;
  };
}
