import { hash } from 'node:crypto';

// An agent sends its instructions, its tools and all earlier messages with every turn, and counting them takes a hundred
// times as long as hashing them. So the counts of pieces of texts are remembered, by their digests: no text is kept. They are
// remembered for each organisation alone, because a count that takes no time tells that the text was sent before.

/** Shorter texts are counted about as fast as they are looked up. */
const MIN_CHARACTERS = 256;
/** The counts of 64 million characters at most: some eight megabytes in each thread that counts. */
const MAX_COUNTS = 65_536;

/** The counts of one organisation's texts. */
export interface CountMemory {
  find(text: string): number | undefined;
  keep(text: string, tokens: number): void;
}

/** The counts that were used last: half as many as there may be, and those before them. */
export class RememberedCounts {
  readonly #mostRecent: number;
  // A map that entries are taken from again and again looks through all that it had before. These are only ever filled.
  #recent = new Map<string, number>();
  #earlier = new Map<string, number>();

  constructor(most = MAX_COUNTS) {
    this.#mostRecent = most / 2;
  }

  get size(): number {
    return this.#recent.size + this.#earlier.size;
  }

  of(owner: string): CountMemory {
    // Between a miss and its count nothing else is asked for.
    let latest: { readonly text: string; readonly name: string } | undefined;
    const nameOf = (text: string) => {
      if (latest?.text !== text) latest = { text, name: hash('sha256', `${owner}\0${text}`, 'base64url') };
      return latest.name;
    };
    return {
      find: (text) => (text.length < MIN_CHARACTERS ? undefined : this.#find(nameOf(text))),
      keep: (text, tokens) => {
        if (text.length >= MIN_CHARACTERS) this.#keep(nameOf(text), tokens);
      },
    };
  }

  #find(name: string): number | undefined {
    const recent = this.#recent.get(name);
    if (recent !== undefined) return recent;
    const earlier = this.#earlier.get(name);
    if (earlier !== undefined) this.#keep(name, earlier);
    return earlier;
  }

  #keep(name: string, tokens: number): void {
    this.#recent.set(name, tokens);
    if (this.#recent.size < this.#mostRecent) return;
    this.#earlier = this.#recent;
    this.#recent = new Map();
  }
}

/** The counts of this thread. */
export const rememberedCounts = new RememberedCounts();
